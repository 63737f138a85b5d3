// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The sends that this worker holds, counted against their limit.
final class InFlight: Sendable {
    private let held = Mutex(0)
    let limit: Int
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init(limit: Int) {
        self.limit = limit
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    var count: Int { held.withLock(\.self) }

    /// Whether so much is under way that a few milliseconds more are nothing to it.
    var isBusy: Bool { count >= limit / 8 }

    /// Sends that may still be claimed.
    var free: Int { max(0, limit - count) }

    func add(_ count: Int) {
        held.withLock { $0 += count }
    }

    func remove(_ count: Int) {
        held.withLock { $0 -= count }
        signal.yield()
    }

    /// Waits until at least `wanted` more may be claimed, or the task is cancelled.
    ///
    /// One waiter.
    func waitForRoom(_ wanted: Int) async {
        var signals = signals.makeAsyncIterator()
        while free < wanted, !Task.isCancelled {
            guard await signals.next(isolation: #isolation) != nil else { return }
        }
    }
}
