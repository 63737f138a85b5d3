// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A recipient, an IP address, a subject or a device whose admissions a window counts.
package struct LimitKey: Sendable, Hashable, Comparable {
    /// The scopes of windows, in the order in which their limits are checked.
    package enum Scope: String, Sendable, CaseIterable {
        case recipient
        case ip
        case subject
        case device
    }

    package let scope: Scope

    /// The key of the row: the first 10 bytes of the fingerprint, then 6 bytes of SHA-256 over `scope ‖ tenant`.
    ///
    /// Fingerprints are keyed hashes, so ten of their bytes are enough to be unique. They come first so that a prefix
    /// finds the rows of a recipient for all tenants.
    package let digest: UUIDValue

    /// Creates a key from a keyed fingerprint of 32 bytes.
    package init(scope: Scope, tenant: String, fingerprint: [UInt8]) {
        self.init(LimitOwner(scope: scope, tenant: tenant), fingerprint)
    }

    init(_ owner: LimitOwner, _ fingerprint: [UInt8]) {
        let value = fingerprint.prefix(10).reduce(0) { $0 << 8 | UInt128($1) }
        self.init(scope: owner.scope, digest: UUIDValue(value << 48 | owner.digest))
    }

    /// Creates a key from the first 16 bytes of a fingerprint.
    init(_ owner: LimitOwner, _ fingerprint: UUIDValue) {
        self.init(scope: owner.scope, digest: UUIDValue(fingerprint.value & ~0xffff_ffff_ffff | owner.digest))
    }

    package init(scope: Scope, digest: UUIDValue) {
        self.scope = scope
        self.digest = digest
    }

    package static func == (left: LimitKey, right: LimitKey) -> Bool { left.digest == right.digest }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// The order in which rows are locked everywhere, against deadlocks.
    package static func < (left: LimitKey, right: LimitKey) -> Bool { left.digest < right.digest }
}

/// The tenant's part of the keys of its limits.
struct LimitOwner: Sendable, Equatable {
    let scope: LimitKey.Scope

    /// 6 bytes of SHA-256 over `scope ‖ tenant`.
    let digest: UInt128

    init(scope: LimitKey.Scope, tenant: String) {
        var fields = FieldJoiner()
        fields.append(scope.rawValue)
        fields.append(tenant)
        self.scope = scope
        digest = fields.sha256.value >> 80
    }
}

/// The tenant's parts of the keys of all scopes.
struct LimitOwners: Sendable, Equatable {
    let recipient: LimitOwner
    let ip: LimitOwner
    let subject: LimitOwner
    let device: LimitOwner

    init(tenant: String) {
        recipient = LimitOwner(scope: .recipient, tenant: tenant)
        ip = LimitOwner(scope: .ip, tenant: tenant)
        subject = LimitOwner(scope: .subject, tenant: tenant)
        device = LimitOwner(scope: .device, tenant: tenant)
    }
}

/// The keys of one request's windows, in the order of scopes and without an array's allocation.
package struct LimitKeys: Sequence, IteratorProtocol, Sendable {
    private var recipient: LimitKey?
    private var ip: LimitKey?
    private var subject: LimitKey?
    private var device: LimitKey?

    init(recipient: LimitKey?, ip: LimitKey?, subject: LimitKey?, device: LimitKey?) {
        self.recipient = recipient
        self.ip = ip
        self.subject = subject
        self.device = device
    }

    package mutating func next() -> LimitKey? {
        recipient.take() ?? ip.take() ?? subject.take() ?? device.take()
    }
}

/// The key of a slot: the one live verification of a tenant, a purpose and a recipient.
package struct SlotKey: Sendable, Hashable {
    package let tenant: String
    package let purpose: Purpose
    package let fingerprint: [UInt8]

    /// The key of the recipient's row, which has the slots of all purposes.
    package let person: LimitKey

    package init(tenant: String, purpose: Purpose, fingerprint: [UInt8]) {
        let owner = LimitOwner(scope: .recipient, tenant: tenant)
        self.init(tenant: tenant, purpose: purpose, fingerprint: fingerprint, owner)
    }

    init(tenant: String, purpose: Purpose, fingerprint: [UInt8], _ owner: LimitOwner) {
        self.tenant = tenant
        self.purpose = purpose
        self.fingerprint = fingerprint
        person = LimitKey(owner, fingerprint)
    }

    package static func == (left: SlotKey, right: SlotKey) -> Bool {
        left.person == right.person && left.purpose == right.purpose
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(person) }
}
