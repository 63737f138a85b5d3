// SPDX-License-Identifier: Apache-2.0

/// The key of a slot: the one live verification of a tenant, a purpose and a recipient.
package struct SlotKey: Sendable, Hashable, RankedKey {
    package let tenant: String
    package let purpose: Purpose
    package let fingerprint: [UInt8]

    package init(tenant: String, purpose: Purpose, fingerprint: [UInt8]) {
        self.tenant = tenant
        self.purpose = purpose
        self.fingerprint = fingerprint
    }

    /// Few keys share a fingerprint: one a purpose.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(rank)
    }

    package var rank: UInt64 { fingerprint.leadingWord }

    /// The one order in which rows of slots are locked.
    package static func < (left: SlotKey, right: SlotKey) -> Bool {
        if let isBefore = left.fingerprint.comesBefore(right.fingerprint) { return isBefore }
        if left.tenant != right.tenant { return left.tenant < right.tenant }
        return left.purpose.rawValue < right.purpose.rawValue
    }
}
