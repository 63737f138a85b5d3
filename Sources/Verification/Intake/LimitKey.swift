// SPDX-License-Identifier: Apache-2.0

import Crypto
package import Formats

/// A recipient or an IP address whose admissions a window counts.
package struct LimitKey: Sendable, Hashable, Comparable {
    package enum Scope: String, Sendable {
        case recipient
        case ip
    }

    package let scope: Scope

    /// The key of the row: the first 10 bytes of the fingerprint, then 6 bytes of SHA-256 over `scope ‖ tenant`.
    ///
    /// Fingerprints are keyed hashes, so ten of their bytes are enough to be unique. They come first so that a prefix
    /// finds the rows of a recipient for all tenants.
    package let digest: UUIDValue

    /// Creates a key from a keyed fingerprint of 32 bytes.
    package init(scope: Scope, tenant: String, fingerprint: [UInt8]) {
        var fields = FieldJoiner(reserving: 64)
        fields.append(scope.rawValue)
        fields.append(tenant)
        let owner = SHA256.hash(data: fields.bytes).prefix(6)
        let value = fingerprint.prefix(10).reduce(0) { $0 << 8 | UInt128($1) }
        self.init(scope: scope, digest: UUIDValue(owner.reduce(value) { $0 << 8 | UInt128($1) }))
    }

    package init(scope: Scope, digest: UUIDValue) {
        self.scope = scope
        self.digest = digest
    }

    /// The order in which rows are locked everywhere, against deadlocks.
    package static func < (left: LimitKey, right: LimitKey) -> Bool { left.digest < right.digest }
}

/// The key of a slot: the one live verification of a tenant, a purpose and a recipient.
package struct SlotKey: Sendable, Hashable {
    package let tenant: String
    package let purpose: Purpose
    package let fingerprint: [UInt8]

    /// The key of the recipient's row, which has the slots of all purposes.
    package let person: LimitKey

    package init(tenant: String, purpose: Purpose, fingerprint: [UInt8]) {
        self.tenant = tenant
        self.purpose = purpose
        self.fingerprint = fingerprint
        person = LimitKey(scope: .recipient, tenant: tenant, fingerprint: fingerprint)
    }

    package static func == (left: SlotKey, right: SlotKey) -> Bool {
        left.person == right.person && left.purpose == right.purpose
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(person)
        hasher.combine(purpose)
    }
}
