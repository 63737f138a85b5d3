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

        /// The places that somebody waits for; 0 when nobody does.
        var wanted = 0

        /// Until when who waits goes before who takes what is free.
        var waitersTurnEnds: ContinuousClock.Instant?

        var free: Int { max(0, limit - held - reserved) }
    }

    let limit: Int

    /// How long a turn lasts: what is held may be held for long, and what is free meanwhile is of use to others.
    private let turn: Duration
    private let places: Mutex<Places>
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init(limit: Int, turn: Duration = .seconds(1)) {
        self.limit = limit
        self.turn = turn
        places = Mutex(Places(limit: limit))
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The sends held.
    var count: Int { places.withLock(\.held) }

    /// Whether so much is under way that a few milliseconds more are nothing to it.
    var isBusy: Bool { count >= limit / 8 }

    /// Reserves as many places as there are, up to a number, and returns how many.
    ///
    /// While somebody waits for room, both have their turns: else every place would be taken as soon as it is free, and
    /// the many that are waited for would never be free at once.
    func reserve(upTo most: Int) -> Int {
        places.withLock { places in
            let isWaitersTurn = places.waitersTurnEnds.map { .now < $0 } ?? false
            let left = isWaitersTurn ? max(0, places.free - places.wanted) : places.free
            let reserved = min(most, left)
            places.reserved += reserved
            return reserved
        }
    }

    /// Waits for so many places and reserves them; false when the task is cancelled before.
    ///
    /// One waiter.
    func waitForRoom(_ wanted: Int) async -> Bool {
        places.withLock { $0.wanted = wanted }
        defer { places.withLock { ($0.wanted, $0.waitersTurnEnds) = (0, nil) } }
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
            if count > 0, places.wanted > 0 { places.waitersTurnEnds = .now + turn }
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
