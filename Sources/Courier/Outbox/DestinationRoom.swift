// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// The in-flight records of one destination, and whether it accepts more.
///
/// A healthy broker answers within milliseconds. A destination is stuck when its records get no answer for two seconds
/// or one of them fails, until it accepts a record. While it is stuck, one record at a time is sent as a probe and the
/// others stay in the outbox table. Pure: the owner has the clock.
struct DestinationRoom {
    private(set) var weight = 0

    /// The streams whose records stay in the table because the destination accepted no more.
    private(set) var left: Set<UUIDValue> = []

    /// The number of records in flight to the broker.
    private var count = 0

    /// The start of the broker's silence; meaningful while records are in flight.
    private var silentSince: ContinuousClock.Instant?

    /// The time of the first failure, and the stream and time of the latest one.
    private var failure: (since: ContinuousClock.Instant, stream: UUIDValue, at: ContinuousClock.Instant)?

    private static let maxWait = Duration.seconds(2)

    /// Minimum time between two probes: short enough for events to resume within 5 s of a topic's recovery.
    static let probePause = Duration.seconds(2)

    /// Time after which a failure without a further attempt is forgotten: another worker may have published the rest.
    private static let memory = Duration.seconds(60)

    /// Maximum time for which a record stays in the table.
    static let longestPause = Duration.seconds(16)

    /// Limit of remembered streams: the others become due by themselves after their pause.
    private static let mostLeft = 100_000

    /// The time since when the destination is stuck; nil while it accepts records.
    func stuckSince(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        if let failure, count > 0 || now < failure.at + Self.memory { return failure.since }
        guard count > 0, let silentSince, now - silentSince > Self.maxWait else { return nil }
        return silentSince
    }

    /// True when a record may be sent to the broker now.
    ///
    /// The stream that failed last waits twice as long as others: its record may be the cause of the failure.
    func takes(_ stream: UUIDValue, below limit: Int, at now: ContinuousClock.Instant) -> Bool {
        guard stuckSince(at: now) != nil else { return weight < limit }
        guard count == 0, let failure else { return false }
        return now >= failure.at + Self.probePause * (stream == failure.stream ? 2 : 1)
    }

    /// The time for which a record stays in the table.
    ///
    /// It grows with the outage, so that the backlog of a stuck destination does not fill every read of the table.
    func pause(at now: ContinuousClock.Instant) -> Duration {
        guard let since = stuckSince(at: now) else { return Self.probePause }
        var pause = Self.probePause
        while pause < Self.longestPause, pause * 4 < now - since { pause *= 2 }
        return pause
    }

    /// Counts a record that is sent to the broker.
    mutating func begin(at now: ContinuousClock.Instant) {
        if stuckSince(at: now) == nil { failure = nil }
        if count == 0 { silentSince = now }
        count += 1
    }

    /// Adds to the weight in memory; negative to subtract.
    mutating func add(_ weight: Int) { self.weight += weight }

    mutating func end(_ stream: UUIDValue, _ outcome: Unacknowledged.Outcome, at now: ContinuousClock.Instant) {
        let since = failure?.since ?? stuckSince(at: now) ?? now
        count -= 1
        switch outcome {
        case .delivered: (failure, silentSince) = (nil, now)
        case .refused: silentSince = now
        case .failed: failure = (since, stream, now)
        }
    }

    /// Remembers a stream whose records stay in the table.
    mutating func leave(_ stream: UUIDValue) {
        if left.count < Self.mostLeft { left.insert(stream) }
    }

    /// Removes and returns remembered streams to read from the table now; none unless it accepts more.
    mutating func recall(_ maximum: Int, below limit: Int, at now: ContinuousClock.Instant) -> [UUIDValue] {
        guard !left.isEmpty, weight < limit / 2, stuckSince(at: now) == nil else { return [] }
        let recalled = Array(left.prefix(maximum))
        left.subtract(recalled)
        return recalled
    }
}
