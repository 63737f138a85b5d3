// SPDX-License-Identifier: Apache-2.0

/// Named points in a worker's run, each after a change outside of the process.
///
/// A worker that dies at any of them loses nothing; the fault tests kill it at each.
package enum Step: String, Sendable, CaseIterable {
    /// Requests are read, and nothing else knows of them yet.
    case intakeRead = "intake.read"

    /// Decisions are durable; nothing is passed on, and the offsets are not committed.
    case intakeRecorded = "intake.recorded"

    /// Offsets are committed, sends and events passed on.
    case intakeCommitted = "intake.committed"

    /// Sends are claimed and not marked.
    case dispatchClaimed = "dispatch.claimed"

    /// Sends are marked, and no provider has been called.
    case dispatchMarked = "dispatch.marked"

    case dispatchAnswered = "dispatch.answered"

    /// Outcomes are durable; their events are not passed on.
    case recordRecorded = "record.recorded"

    /// The broker has events that are still in the outbox.
    case publishDelivered = "publish.delivered"

    case publishForgotten = "publish.forgotten"

    /// Overdue sends are claimed from another worker, and not passed on.
    case sweepClaimed = "sweep.claimed"

    /// Receipts are read, and nothing else knows of them yet.
    case receiptsRead = "receipts.read"

    /// The receipts' effects are durable; the offsets are not committed.
    case receiptsRecorded = "receipts.recorded"
}

extension Step {
    /// A function called at every step; it may end the process, and nothing waits for it.
    package typealias Observer = @Sendable (Step) -> Void
}
