// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Counts this worker's sends in flight against their limit: a semaphore, of which each send needs one permit.
///
/// Intake and other stages reserve permits concurrently, before they claim sends, so that all claims together stay
/// within the limit. A `Claimant` reserves at once as many permits as are free. Intake waits until it has permits for a
/// whole batch, and keeps those it already has. While a claimant could use more than it got, free permits are given to
/// intake and to the claimants alternately.
final class InFlight: Sendable {
    /// A user that reserves free permits without waiting.
    enum Claimant {
        /// The sweep: sends of dead workers, and sends whose next attempt is due.
        case takeover

        /// The retry of records that wait for rows locked by another transaction.
        case waitingRecords
    }

    private struct Places {
        let limit: Int
        var held = 0

        /// Reserved permits, including those that the waiter has so far.
        var reserved = 0

        /// The permits that the waiter still lacks; 0 without a waiter.
        var lacking = 0

        /// Claimants that could use more permits than they got, with the number; a reservation removes its claimant.
        var demands: [Claimant: Int] = [:]

        /// Free permits that are kept for claimants while intake waits.
        var left = 0
        var isWaitersTurn = true

        /// True while no permit is given away.
        var isClosed = false

        /// True once `waitForRoom` must return at once.
        var isStopping = false

        var free: Int { isClosed ? 0 : max(0, limit - held - reserved) }

        /// Assigns free permits to the waiter, or keeps them for claimants with demands, alternately.
        ///
        /// At most half of the limit is kept for claimants, since their next reservation may be some time away.
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

    /// The permits kept for a claimant that got none: enough to find out whether there is work.
    static let probeSize = 8

    let limit: Int
    private let places: Mutex<Places>
    private let signal = Signal()

    init(limit: Int) {
        self.limit = limit
        places = Mutex(Places(limit: limit))
    }

    /// The number of sends in flight.
    var count: Int { places.withLock(\.held) }

    /// The time for which a batch may grow: zero while few sends are in flight, up to the given maximum while there are
    /// many.
    func gathering(upTo milliseconds: Int) -> @Sendable () -> Duration {
        { .milliseconds(min(milliseconds, self.count / 8)) }
    }

    /// Reserves free permits, up to a number, and returns how many it got.
    ///
    /// Leaves a share for each other claimant that has a demand.
    func reserve(upTo most: Int, for claimant: Claimant) -> Int {
        defer { signal.send() }
        return places.withLock { places in
            places.demands[claimant] = nil
            let claimants = places.demands.count + 1
            let reserved = min(most, (places.free + claimants - 1) / claimants)
            places.reserved += reserved
            places.share()
            return reserved
        }
    }

    /// Waits for a number of permits and reserves them; false when the task is cancelled or `stopWaiting` is called
    /// first.
    ///
    /// At most one caller may wait.
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

    /// Ends the wait for permits; later waits return at once.
    func stopWaiting() {
        places.withLock { $0.isStopping = true }
        signal.send()
    }

    /// Ends a reservation: converts permits to sends in flight and frees the rest.
    ///
    /// `claimant` is the claimant that reserved and will soon reserve again.
    func claim(_ count: Int, of reserved: Int, for claimant: Claimant? = nil) {
        places.withLock { places in
            places.reserved -= reserved
            places.held += count
            if let claimant, count >= reserved { places.demands[claimant] = reserved == 0 ? Self.probeSize : limit }
            places.share()
        }
        signal.send()
    }

    /// Stops giving permits away, or resumes it; sends in flight and reserved permits are unaffected.
    func close(_ isClosed: Bool) {
        places.withLock { places in
            places.isClosed = isClosed
            places.share()
        }
        signal.send()
    }

    var isClosed: Bool { places.withLock(\.isClosed) }

    /// Counts additional results of a send in flight.
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
