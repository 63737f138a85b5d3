// SPDX-License-Identifier: Apache-2.0

import Verification

extension CodeKeys {
    /// Random keys that exist only in this process, so that codes of a simulation or demonstration are worthless
    /// elsewhere.
    static func throwAway() -> CodeKeys {
        CodeKeys(code: .random(), hash: .random(), fingerprint: .random(), seal: .random())
    }
}

extension KeyRing {
    fileprivate static func random() -> KeyRing {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
        guard let ring = KeyRing([(KeyID(1), bytes)]) else { preconditionFailure("32 bytes make a ring") }
        return ring
    }
}
