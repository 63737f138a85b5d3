// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The sends that this worker holds, counted against their limit.
///
/// Places are reserved before sends are claimed, by intake and by others at the same time: together they claim no more
/// than there is room for. Each `Taker` reserves what is free when it looks; intake waits for the room of a whole batch,
/// and keeps each place that it gets. While takers could use more than they got, what comes free goes to intake and to
/// them by turns.
final class InFlight: Sendable {
    /// One that takes what is free, when it looks.
    enum Taker {
        /// Sends of dead workers, and those whose next attempt is due.
        case takeover

        /// Records that waited for rows which another transaction locked.
        case waitingRecords
    }

    private struct Places {
        let limit: Int
        var held = 0

        /// With those that the waiter has so far.
        var reserved = 0

        /// The places that the waiter has not got yet; 0 when nobody waits.
        var lacking = 0

        /// The takers that may use more than they had, with how much, each until it looks again.
        var demands: [Taker: Int] = [:]

        /// What is free and left to them while somebody waits.
        var left = 0
        var isWaitersTurn = true

        /// Whether nobody gets a place for now.
        var isClosed = false

        /// True once a wait for room ends at once.
        var isStopping = false

        var free: Int { isClosed ? 0 : max(0, limit - held - reserved) }

        /// Gives what has come free to the waiter, or leaves it to those with demands: by turns.
        ///
        /// Half of all is the most that is kept for those, who may not look again so soon.
        mutating func share() {
            let demand = min(demands.values.reduce(0, +), (limit + 1) / 2)
            left = min(left, free, demand)
            guard lacking > 0, free > left else { return }
            if !isWaitersTurn { left = min(free, demand) }
            isWaitersTurn.toggle()
            let given = min(lacking, free - left)
            lacking -= given
            reserved += given
        }
    }

    /// The places left to a taker that had none: enough to see whether there is something to take.
    static let probeSize = 8

    let limit: Int
    private let places: Mutex<Places>
    private let signal = Signal()

    init(limit: Int) {
        self.limit = limit
        places = Mutex(Places(limit: limit))
    }

    /// The sends held.
    var count: Int { places.withLock(\.held) }

    /// The time to gather a batch of what comes one by one: none while few sends are in flight, and longer the more there
    /// are.
    func gathering(upTo milliseconds: Int) -> Duration { .milliseconds(min(milliseconds, count / 8)) }

    /// Reserves what is free, up to a number, and returns how many places that are.
    ///
    /// Something is left for another taker that has a demand.
    func reserve(upTo most: Int, for taker: Taker) -> Int {
        defer { signal.send() }
        return places.withLock { places in
            places.demands[taker] = nil
            let takers = places.demands.count + 1
            let reserved = min(most, (places.free + takers - 1) / takers)
            places.reserved += reserved
            places.share()
            return reserved
        }
    }

    /// Waits for so many places and reserves them; false when the task is cancelled or `stopWaiting` called before.
    ///
    /// One waiter.
    func waitForRoom(_ wanted: Int) async -> Bool {
        places.withLock { places in
            places.lacking = wanted
            places.share()
        }
        while !Task.isCancelled, !places.withLock(\.isStopping) {
            if places.withLock({ $0.lacking == 0 }) { return true }
            guard await signal.wait() else { break }
        }
        places.withLock { places in
            places.reserved -= wanted - places.lacking
            places.lacking = 0
        }
        return false
    }

    /// Ends the wait for room, and from now on every other one at once.
    func stopWaiting() {
        places.withLock { $0.isStopping = true }
        signal.send()
    }

    /// Ends a reservation of so many places: those of the sends that were claimed are held, the others are free.
    ///
    /// `taker` is the one that reserved, and looks again soon.
    func claim(_ count: Int, of reserved: Int, for taker: Taker? = nil) {
        places.withLock { places in
            places.reserved -= reserved
            places.held += count
            if let taker, count >= reserved { places.demands[taker] = reserved == 0 ? Self.probeSize : limit }
            places.share()
        }
        signal.send()
    }

    /// Gives no places away until it is opened again; sends that are held, and places that are reserved, stay.
    func close(_ isClosed: Bool) {
        places.withLock { places in
            places.isClosed = isClosed
            places.share()
        }
        signal.send()
    }

    var isClosed: Bool { places.withLock(\.isClosed) }

    /// Counts sends that come of one that is held.
    func add(_ count: Int) {
        places.withLock { $0.held += count }
    }

    func remove(_ count: Int) {
        places.withLock { places in
            places.held -= count
            places.share()
        }
        signal.send()
    }
}
