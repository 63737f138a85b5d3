// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts the jobs that were enqueued on a client's thread.
///
/// The wake-up by `rd_kafka_queue_yield` is a flag, not a count: a poll that finds it set cannot distinguish the job
/// that runs the poll from another job that waits behind it. So the caller of a poll reads the counter first, and the
/// poll blocks only while no more than the caller's own job was added. A job that is not counted waits for the next one
/// that is.
final class WakeCounter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .acquiring) }

    func add() {
        count.wrappingAdd(1, ordering: .acquiringAndReleasing)
    }

    /// True when jobs other than the caller's own were added since the counter was at `start`.
    func hasOthers(since start: Int) -> Bool {
        value &- start > 1
    }
}
