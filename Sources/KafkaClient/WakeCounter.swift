// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts the jobs that were enqueued on a client's thread.
///
/// A yield of librdkafka's is a flag, not a count: the poll that finds it cannot tell the job that runs the poll itself
/// from another that waits behind it. Whoever asks for a poll reads the counter first, and the poll blocks only while
/// no more than its own job was added. A job that is not counted waits for the next one that is.
final class WakeCounter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .acquiring) }

    func add() {
        count.wrappingAdd(1, ordering: .acquiringAndReleasing)
    }

    /// True when jobs other than the asker's own came since the counter was at `start`.
    func hasOthers(since start: Int) -> Bool {
        value &- start > 1
    }
}
