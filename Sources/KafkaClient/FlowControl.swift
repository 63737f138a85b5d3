// SPDX-License-Identifier: Apache-2.0

/// When to stop reading and when to go on.
///
/// A full buffer first holds: the client's queue is left alone, which costs nothing, since a busy program drains within
/// milliseconds. A hold longer than `patience` pauses the partitions, so that the queue can be polled again: polling is
/// what keeps the member in its group, and pausing makes the client throw away what it had read ahead.
struct FlowControl {
    enum Mode: Hashable {
        /// Exits: `holding` when the buffer is full.
        case flowing

        /// Exits: `flowing` when there is room, `paused` after `patience`.
        case holding(since: ContinuousClock.Instant)

        /// Exits: `flowing` when there is room.
        case paused
    }

    enum Action: Hashable {
        case nothing, pause, resume
    }

    static let patience = Duration.milliseconds(500)

    private(set) var mode = Mode.flowing

    mutating func update(isFull: Bool, hasRoom: Bool, now: ContinuousClock.Instant) -> Action {
        switch mode {
        case .flowing:
            if isFull { mode = .holding(since: now) }
            return .nothing
        case .holding(let since):
            if hasRoom {
                mode = .flowing
                return .nothing
            }
            guard since.duration(to: now) >= Self.patience else { return .nothing }
            mode = .paused
            return .pause
        case .paused:
            guard hasRoom else { return .nothing }
            mode = .flowing
            return .resume
        }
    }

    /// Starts over, with a new assignment.
    mutating func reset() {
        mode = .flowing
    }
}
