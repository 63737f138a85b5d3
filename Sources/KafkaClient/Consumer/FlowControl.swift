// SPDX-License-Identifier: Apache-2.0

/// Decides when to stop reading and when to resume.
///
/// When the buffer is full, reading first holds: the client's queue is not polled, which costs nothing, since a busy
/// program frees the buffer within milliseconds. A hold longer than `maxWait` pauses the partitions, so that the queue
/// can be polled again. Polling keeps the member in its group, and a pause makes the client drop its prefetched
/// records.
struct FlowControl {
    enum Mode: Hashable {
        /// Reads records. Exits: `holding` when the buffer is full.
        case flowing

        /// Does not poll. Exits: `flowing` when the buffer has space, `paused` after `maxWait`.
        case holding(since: ContinuousClock.Instant)

        /// Polls without records. Exits: `flowing` when the buffer has space.
        case paused
    }

    enum Action: Hashable {
        case nothing, pause, resume
    }

    static let maxWait = Duration.milliseconds(500)

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
            guard since.duration(to: now) >= Self.maxWait else { return .nothing }
            mode = .paused
            return .pause
        case .paused:
            guard hasRoom else { return .nothing }
            mode = .flowing
            return .resume
        }
    }

    mutating func reset() {
        mode = .flowing
    }
}
