// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The sends that this worker holds, counted against their limit.
///
/// Places are reserved before sends are claimed, by intake and sweep at the same time: together they claim no more than
/// there is room for.
final class InFlight: Sendable {
    private struct Places {
        let limit: Int
        var held = 0
        var reserved = 0

        var free: Int { max(0, limit - held - reserved) }
    }

    let limit: Int
    private let places: Mutex<Places>
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init(limit: Int) {
        self.limit = limit
        places = Mutex(Places(limit: limit))
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The sends held.
    var count: Int { places.withLock(\.held) }

    /// Whether so much is under way that a few milliseconds more are nothing to it.
    var isBusy: Bool { count >= limit / 8 }

    /// Reserves as many places as there are, up to a number, and returns how many.
    func reserve(upTo most: Int) -> Int {
        places.withLock { places in
            let reserved = min(most, places.free)
            places.reserved += reserved
            return reserved
        }
    }

    /// Waits for so many places and reserves them; false when the task is cancelled before.
    ///
    /// One waiter.
    func waitForRoom(_ wanted: Int) async -> Bool {
        var signals = signals.makeAsyncIterator()
        while !Task.isCancelled {
            if reserveAll(wanted) { return true }
            guard await signals.next(isolation: #isolation) != nil else { return false }
        }
        return false
    }

    /// Ends a reservation of so many places: those of the sends that were claimed are held, the others are free.
    func claim(_ count: Int, of reserved: Int) {
        places.withLock { places in
            places.reserved -= reserved
            places.held += count
        }
        signal.yield()
    }

    /// Counts sends that come of one that is held.
    func add(_ count: Int) {
        places.withLock { $0.held += count }
    }

    func remove(_ count: Int) {
        places.withLock { $0.held -= count }
        signal.yield()
    }

    private func reserveAll(_ wanted: Int) -> Bool {
        places.withLock { places in
            guard wanted <= places.free else { return false }
            places.reserved += wanted
            return true
        }
    }
}
