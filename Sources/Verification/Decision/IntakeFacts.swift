// SPDX-License-Identifier: Apache-2.0

/// What the database knows of a batch, read under the locks that the decisions need.
package struct IntakeFacts: Sendable {
    /// The database's clock, after the locks were granted.
    package let now: Timestamp

    /// A memory for every candidate's key: of its own request, or of one from before.
    package let requests: [RequestKey: KnownRequest]

    /// The verification that each slot points to; a new slot points to none.
    package let slots: [SlotKey: VerificationID]

    /// The verifications that slots and requests point to.
    package let verifications: [VerificationID: StoredVerification]

    /// The admissions of recipients and IP addresses; a key without a window has none.
    package let windows: [LimitKey: LimitWindow]

    /// The admissions of each tenant within each of its limits.
    package let tenantUsage: [TenantLimit: Int]

    package init(
        now: Timestamp,
        requests: [RequestKey: KnownRequest],
        slots: [SlotKey: VerificationID],
        verifications: [VerificationID: StoredVerification],
        windows: [LimitKey: LimitWindow] = [:],
        tenantUsage: [TenantLimit: Int] = [:]
    ) {
        self.now = now
        self.requests = requests
        self.slots = slots
        self.verifications = verifications
        self.windows = windows
        self.tenantUsage = tenantUsage
    }
}

/// One limit of a whole tenant.
package struct TenantLimit: Sendable, Hashable {
    package let tenant: String
    package let limit: RateLimit

    package init(tenant: String, limit: RateLimit) {
        self.tenant = tenant
        self.limit = limit
    }
}
