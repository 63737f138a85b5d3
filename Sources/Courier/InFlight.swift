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

    /// Takes places for what may be claimed next, as many as there are up to a number; what is not claimed is removed.
    func take(upTo most: Int) -> Int {
        held.withLock { held in
            let taken = min(most, max(0, limit - held))
            held += taken
            return taken
        }
    }

    func add(_ count: Int) {
        held.withLock { $0 += count }
    }

    func remove(_ count: Int) {
        held.withLock { $0 -= count }
        signal.yield()
    }

    /// Waits for so many places and takes them; false when the task is cancelled before.
    ///
    /// One waiter.
    func waitForRoom(_ wanted: Int) async -> Bool {
        var signals = signals.makeAsyncIterator()
        while !Task.isCancelled {
            if takeAll(wanted) { return true }
            guard await signals.next(isolation: #isolation) != nil else { return false }
        }
        return false
    }

    private func takeAll(_ wanted: Int) -> Bool {
        held.withLock { held in
            guard wanted <= limit - held else { return false }
            held += wanted
            return true
        }
    }
}
