// SPDX-License-Identifier: Apache-2.0

import Crypto
package import Formats

/// The id of a key in its ring, stored beside the data made with the key.
package struct KeyID: Sendable, Hashable, CustomStringConvertible {
    package let number: Int16

    package init(_ number: Int16) {
        self.number = number
    }

    package var description: String { String(number) }
}

/// The keys of one purpose: the active one makes new values, the others read values from before a rotation.
package struct KeyRing: Sendable, Redacted {
    package let activeID: KeyID

    package let active: RingKey
    private let keys: [KeyID: RingKey]

    /// Creates a ring whose first key is active; nil if there is none, an id repeats or a key has under 32 bytes.
    package init?(_ entries: [(id: KeyID, bytes: [UInt8])]) {
        guard let first = entries.first else { return nil }
        var keys: [KeyID: RingKey] = [:]
        for (id, bytes) in entries {
            guard bytes.count >= 32, keys.updateValue(RingKey(bytes), forKey: id) == nil else { return nil }
        }
        guard let active = keys[first.id] else { return nil }
        activeID = first.id
        self.active = active
        self.keys = keys
    }

    /// The key with an id, or nil if the ring does not hold it.
    package subscript(id: KeyID) -> RingKey? { keys[id] }

    /// The ids of all keys: the active one, then the others in order.
    package var ids: [KeyID] {
        [activeID] + keys.keys.filter { $0 != activeID }.sorted { $0.number < $1.number }
    }

    /// All keys, in the order of `ids`.
    package var all: [RingKey] { ids.compactMap { keys[$0] } }

    /// The ids under which this ring holds a different key than an earlier one.
    package func changedKeys(since earlier: KeyRing) -> [KeyID] {
        keys.filter { id, key in earlier.keys[id].map { $0 != key } ?? false }.keys.sorted { $0.number < $1.number }
    }

    package var description: String { "KeyRing(active: \(activeID), count: \(keys.count))" }
}

/// One key of a ring, with a prepared HMAC-SHA-256 state: to prepare it costs twice as much as a short message.
package final class RingKey: Sendable, Equatable, Redacted {
    let symmetric: SymmetricKey

    private let begun: HMAC<SHA256>

    package init(_ bytes: [UInt8]) {
        symmetric = SymmetricKey(data: bytes)
        begun = HMAC(key: symmetric)
    }

    package func authenticate(_ fields: FieldJoiner) -> [UInt8] {
        authenticate(fields) { Array($0) }
    }

    /// The first 16 bytes of the code as a number.
    func digest(_ fields: FieldJoiner) -> UUIDValue {
        authenticate(fields) { UUIDValue(digest: $0) }
    }

    private func authenticate<Result>(_ fields: FieldJoiner, _ read: (UnsafeRawBufferPointer) -> Result) -> Result {
        var code = begun
        fields.withUnsafeBytes { code.update(data: $0) }
        return code.finalize().withUnsafeBytes(read)
    }

    package static func == (one: RingKey, other: RingKey) -> Bool { one.symmetric == other.symmetric }

    package var description: String { "<key>" }
}

extension FieldJoiner {
    /// The first 16 bytes of SHA-256 over the fields.
    var sha256: UUIDValue {
        var hash = SHA256()
        withUnsafeBytes { hash.update(bufferPointer: $0) }
        return hash.finalize().withUnsafeBytes { UUIDValue(digest: $0) }
    }
}

extension [UInt8] {
    /// Compares in a time that does not depend on where the bytes differ.
    package func equalsInConstantTime(_ other: [UInt8]) -> Bool {
        count == other.count && zip(self, other).reduce(UInt8(0)) { $0 | $1.0 ^ $1.1 } == 0
    }
}
