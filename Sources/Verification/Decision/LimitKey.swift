// SPDX-License-Identifier: Apache-2.0

import Crypto

/// A person, or an address whose admissions a window counts.
package struct LimitKey: Sendable, Hashable, Comparable {
    package enum Scope: String, Sendable {
        case recipient
        case ip
    }

    package let scope: Scope

    /// The key of the row: the first 10 bytes of the fingerprint, and 6 of SHA-256 over `scope ‖ tenant`.
    ///
    /// Fingerprints are keyed, so that ten of their bytes tell any two apart; as the first ones they find the rows of a
    /// recipient for all tenants.
    package let digest: UUIDValue

    /// Makes a key by a keyed fingerprint, of 32 bytes.
    package init(scope: Scope, tenant: String, fingerprint: [UInt8]) {
        var fields = FieldJoiner(reserving: 64)
        fields.append(scope.rawValue)
        fields.append(tenant)
        let owner = SHA256.hash(data: fields.bytes).prefix(6)
        let value = fingerprint.prefix(10).reduce(0) { $0 << 8 | UInt128($1) }
        self.init(scope: scope, digest: UUIDValue(owner.reduce(value) { $0 << 8 | UInt128($1) }))
    }

    /// The key that a row has.
    package init(scope: Scope, digest: UUIDValue) {
        self.scope = scope
        self.digest = digest
    }

    /// The one order in which rows are locked.
    package static func < (left: LimitKey, right: LimitKey) -> Bool { left.digest < right.digest }
}
