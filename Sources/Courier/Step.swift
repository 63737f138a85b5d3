// SPDX-License-Identifier: Apache-2.0

/// The named moments in a worker's life between which something changes outside of it.
///
/// A worker that dies at any of them loses nothing; the fault tests let it die at each.
package enum Step: String, Sendable, CaseIterable {
    /// Requests are read, and nothing is known of them elsewhere.
    case intakeRead = "intake.read"

    /// Their decisions are durable, nothing is handed on and their offsets are not committed.
    case intakeRecorded = "intake.recorded"

    /// Their offsets are committed, their sends and events handed on.
    case intakeCommitted = "intake.committed"

    /// Sends are claimed and not marked.
    case dispatchClaimed = "dispatch.claimed"

    /// Sends are marked, and no provider has been called.
    case dispatchMarked = "dispatch.marked"

    /// A provider has answered.
    case dispatchAnswered = "dispatch.answered"

    /// Outcomes are durable, their events not handed on.
    case recordRecorded = "record.recorded"

    /// The broker has events that are still in the outbox.
    case publishDelivered = "publish.delivered"

    /// Events are gone from the outbox.
    case publishForgotten = "publish.forgotten"

    /// Overdue sends are claimed from another worker and not handed on.
    case sweepClaimed = "sweep.claimed"

    /// Receipts are read, and nothing is known of them elsewhere.
    case receiptsRead = "receipts.read"

    /// What receipts say is durable, their offsets are not committed.
    case receiptsRecorded = "receipts.recorded"
}

extension Step {
    /// What is told of every step; it may end the process, and nothing else waits for it.
    package typealias Observer = @Sendable (Step) -> Void
}
