// SPDX-License-Identifier: Apache-2.0

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
