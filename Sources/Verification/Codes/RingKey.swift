// SPDX-License-Identifier: Apache-2.0

import Crypto
package import Formats

/// One key of a ring, with a prepared HMAC-SHA-256 state: to prepare it costs twice as much as a short message.
package struct RingKey: Sendable, Equatable, Redacted {
    let symmetric: SymmetricKey

    private let begun: HMAC<SHA256>

    package init(_ bytes: [UInt8]) {
        symmetric = SymmetricKey(data: bytes)
        begun = HMAC(key: symmetric)
    }

    package func authenticate(_ fields: FieldJoiner) -> [UInt8] {
        var code = begun
        code.update(data: fields.bytes)
        return code.finalize().withUnsafeBytes { Array($0) }
    }

    package static func == (one: RingKey, other: RingKey) -> Bool { one.symmetric == other.symmetric }

    package var description: String { "<key>" }
}

extension [UInt8] {
    /// Compares in a time that does not depend on where the bytes differ.
    package func equalsInConstantTime(_ other: [UInt8]) -> Bool {
        count == other.count && zip(self, other).reduce(UInt8(0)) { $0 | $1.0 ^ $1.1 } == 0
    }
}
