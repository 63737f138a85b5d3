// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A scope that has tripped: blocked for a time, then half open for probes, then ended.
package struct BrakeBlock: Sendable, Equatable {
    package enum State: String, Sendable {
        case blocked
        case halfOpen = "half_open"
        case ended
    }

    /// The number of probes that a half-open scope allows.
    package static let probes = 6

    /// The number of approved probes that ends the block.
    package static let approvalsToEnd = 2

    /// The minimum time between two probes of a scope.
    package static let probeInterval = Duration.seconds(5)

    /// The length of one round of probes.
    static let probeTime = Duration.seconds(90)

    package let key: BrakeKey
    package let region: String
    package private(set) var state = State.blocked
    package private(set) var beganAt: Timestamp

    /// The end of the block, or the time since which it is half open or ended.
    package private(set) var changesAt: Timestamp

    /// The number of consecutive blocks, each within a day of the one before.
    package private(set) var trips = 1

    /// The evidence of the last trip.
    package private(set) var shortfall: Shortfall
    package private(set) var probesSent = 0
    package private(set) var probesApproved = 0

    /// The time of the last refused request.
    package private(set) var refusedAt: Timestamp

    /// The length of the block before it becomes half open.
    package private(set) var length: Duration

    /// Makes a block from its stored state.
    package init(
        _ key: BrakeKey,
        region: String,
        state: State,
        beganAt: Timestamp,
        changesAt: Timestamp,
        length: Duration,
        trips: Int,
        shortfall: Shortfall,
        probesSent: Int = 0,
        probesApproved: Int = 0,
        refusedAt: Timestamp
    ) {
        self.key = key
        self.region = region
        self.state = state
        self.beganAt = beganAt
        self.changesAt = changesAt
        self.length = length
        self.trips = trips
        self.shortfall = shortfall
        self.probesSent = probesSent
        self.probesApproved = probesApproved
        self.refusedAt = refusedAt
    }

    /// Makes the block of a scope that trips for the first time.
    init(_ key: BrakeKey, region: String, shortfall: Shortfall, rules: BrakeRules, at now: Timestamp) {
        self.init(
            key,
            region: region,
            state: .ended,
            beganAt: now,
            changesAt: now,
            length: .zero,
            trips: 0,
            shortfall: shortfall,
            refusedAt: now
        )
        trip(shortfall, rules: rules, at: now)
    }

    package var isInForce: Bool { state != .ended }

    /// True if the block explains a verification that began at this time, which is before the block's end.
    func explains(_ time: Timestamp) -> Bool { isInForce || time < changesAt }

    /// True if the block ended so long ago that the next one is as short as a first one.
    func isForgotten(at now: Timestamp) -> Bool { state == .ended && now - changesAt > BrakeRules.memory }

    mutating func trip(_ shortfall: Shortfall, rules: BrakeRules, at now: Timestamp) {
        trips = isForgotten(at: now) ? 1 : trips + 1
        self.shortfall = shortfall
        length = rules.block(trips: trips)
        state = .blocked
        beganAt = now
        changesAt = now + length
    }

    mutating func lift(at now: Timestamp) {
        if isInForce { end(at: now) }
    }

    /// Counts a verification that began while the scope was half open.
    mutating func count(probe time: Timestamp) {
        if state == .halfOpen, time >= changesAt { probesSent += 1 }
    }

    mutating func noteRefusal(at time: Timestamp) {
        refusedAt = max(refusedAt, time)
    }

    mutating func count(approvalOf time: Timestamp) {
        if state == .halfOpen, time >= changesAt { probesApproved += 1 }
    }

    /// Makes the transition that is due; true if there was one.
    ///
    /// A half-open scope with too few probes for a verdict ends if no request was refused for as long as it was
    /// blocked.
    mutating func advance(to now: Timestamp, rules: BrakeRules) -> Bool {
        switch state {
        case .blocked where now >= changesAt:
            state = .halfOpen
            changesAt = now
            (probesSent, probesApproved) = (0, 0)
        case .halfOpen where probesApproved >= Self.approvalsToEnd:
            end(at: now)
        case .halfOpen where probesSent >= Self.probes && now - changesAt >= Self.probeTime:
            if probesApproved == 0 {
                trip(Shortfall(expected: shortfall.expected, observed: 0), rules: rules, at: now)
            } else {
                changesAt = now
                (probesSent, probesApproved) = (0, 0)
            }
        case .halfOpen where probesSent < Self.probes && now - max(changesAt, refusedAt) >= length:
            end(at: now)
        default:
            return false
        }
        return true
    }

    private mutating func end(at now: Timestamp) {
        state = .ended
        changesAt = now
    }
}
