// SPDX-License-Identifier: Apache-2.0

/// What the decisions of a batch change in the database, and what follows from them.
package struct IntakeChanges: Sendable {
    package var insertedVerifications: [StoredVerification] = []
    package var updatedVerifications: [StoredVerification] = []

    /// Requests of which something else is to be remembered than the facts say.
    package var requests: [RequestKey: KnownRequest] = [:]

    /// The slots of the verifications that get a send.
    package var slots: [SlotKey: VerificationID] = [:]

    /// Windows with the admissions of this batch.
    package var windows: [LimitKey: WindowChange] = [:]

    /// Windows of IP addresses that refused a request of this batch.
    package var fullWindows: [LimitKey: LimitWindow] = [:]

    /// Admissions of this batch by tenant.
    package var admissions: [String: Int] = [:]

    /// The new sends, each claimed by the deciding worker.
    package var sends: [ClaimedSend] = []

    /// What to publish, in the order of the decisions.
    package var outbox: [OutboxRecord] = []

    package init() {}
}
