// SPDX-License-Identifier: Apache-2.0

import Verification

/// The room of one destination: how much the broker was given for it, and whether it takes records.
///
/// A broker that is well answers within milliseconds. A destination whose records have no answer for two seconds, or one of
/// which failed, is stuck until it takes a record: meanwhile one record at a time goes as a probe, and the others are left in
/// the table. Pure: the owner has the clock.
struct DestinationRoom {
    private(set) var weight = 0

    /// The streams that were left in the table while there was no room.
    private(set) var left: Set<UUIDValue> = []

    /// The number of records that the broker has.
    private var count = 0

    /// Since when the broker has answered for none of them.
    private var silentSince: ContinuousClock.Instant?

    /// Since when records fail, and the last one that did.
    private var failure: (since: ContinuousClock.Instant, stream: UUIDValue, at: ContinuousClock.Instant)?

    private static let patience = Duration.seconds(2)

    /// The time between two attempts: short enough for events to follow a topic's recovery within 5 s.
    static let probePause = Duration.seconds(2)

    /// A failure after which nothing was tried for so long is forgotten: another worker may have published the rest.
    private static let memory = Duration.seconds(60)

    /// The longest time that a record is left in the table for.
    static let longestPause = Duration.seconds(16)

    /// More streams than these are not remembered: they come by themselves after their pause.
    private static let mostLeft = 100_000

    /// Since when the destination is stuck; nil for one that takes records.
    func stuckSince(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        if let failure, count > 0 || now < failure.at + Self.memory { return failure.since }
        guard count > 0, let silentSince, now - silentSince > Self.patience else { return nil }
        return silentSince
    }

    /// True where a record may go to the broker now.
    ///
    /// The record that failed last lets others go before it: it may be the cause itself.
    func takes(_ stream: UUIDValue, below limit: Int, at now: ContinuousClock.Instant) -> Bool {
        guard stuckSince(at: now) != nil else { return weight < limit }
        guard count == 0, let failure else { return false }
        return now >= failure.at + Self.probePause * (stream == failure.stream ? 2 : 1)
    }

    /// The time for which a record is left in the table: the longer the destination is stuck, the longer, so that its
    /// backlog does not fill every look at the table.
    func pause(at now: ContinuousClock.Instant) -> Duration {
        guard let since = stuckSince(at: now) else { return Self.probePause }
        var pause = Self.probePause
        while pause < Self.longestPause, pause * 4 < now - since { pause *= 2 }
        return pause
    }

    /// Counts a record that goes to the broker.
    mutating func begin(at now: ContinuousClock.Instant) {
        if stuckSince(at: now) == nil { failure = nil }
        if count == 0 { silentSince = now }
        count += 1
    }

    /// Counts the weight of records that are kept for it, or no longer.
    mutating func add(_ weight: Int) { self.weight += weight }

    /// Takes the broker's answer for a record.
    mutating func end(_ stream: UUIDValue, _ outcome: Unacknowledged.Outcome, at now: ContinuousClock.Instant) {
        let since = failure?.since ?? stuckSince(at: now) ?? now
        count -= 1
        switch outcome {
        case .delivered: (failure, silentSince) = (nil, now)
        case .refused: silentSince = now
        case .failed: failure = (since, stream, now)
        }
    }

    /// Remembers streams that were left in the table.
    mutating func leave(_ stream: UUIDValue) {
        if left.count < Self.mostLeft { left.insert(stream) }
    }

    /// Forgets streams that were left, as many as are to be taken from the table now that there is room.
    mutating func recall(_ maximum: Int, below limit: Int, at now: ContinuousClock.Instant) -> [UUIDValue] {
        guard !left.isEmpty, weight < limit / 2, stuckSince(at: now) == nil else { return [] }
        let recalled = Array(left.prefix(maximum))
        left.subtract(recalled)
        return recalled
    }
}
