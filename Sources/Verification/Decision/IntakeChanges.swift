// SPDX-License-Identifier: Apache-2.0

/// The changes that a batch's decisions make in the database, with the new sends and the events to publish.
package struct IntakeChanges: Sendable {
    package var insertedVerifications: [StoredVerification] = []
    package var updatedVerifications: [StoredVerification] = []

    /// The requests whose row has to change.
    package var requests: [RequestKey: KnownRequest] = [:]

    /// The new verification of each slot that gets a send.
    package var slots: [SlotKey: VerificationID] = [:]

    /// The windows that count admissions of this batch.
    package var windows: [LimitKey: WindowChange] = [:]

    /// The windows of IP addresses that refused a request of this batch.
    package var fullWindows: [LimitKey: LimitWindow] = [:]

    package var admissions: [String: Int] = [:]

    /// The new sends, each claimed by the deciding worker.
    package var sends: [ClaimedSend] = []

    /// The records to publish, in the order of the decisions.
    package var outbox: [OutboxRecord] = []

    package init() {}
}
