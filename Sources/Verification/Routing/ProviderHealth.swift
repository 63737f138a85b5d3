// SPDX-License-Identifier: Apache-2.0

/// The health of one provider, as seen by one worker: its points, and its availability.
package struct ProviderHealth: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// The values that the choice of a provider uses.
    package struct State: Sendable, Equatable {
        package let points: Int
        package let availability: Availability

        package init(points: Int = HealthScore.highest, availability: Availability = .ready) {
            self.points = points
            self.availability = availability
        }

        package var isAvailable: Bool {
            if case .paused = availability { false } else { true }
        }
    }

    package enum Availability: Sendable, Equatable {
        case ready

        /// The next message is a probe.
        case probe

        /// The provider is skipped for this time.
        case paused(for: Duration)
    }

    private var breaker: Breaker
    private var score = HealthScore()

    package init(seed: UInt64 = .random(in: .min ... .max), probeLimit: Duration = Breaker.probeLimit) {
        breaker = Breaker(seed: seed, probeLimit: probeLimit)
    }

    package mutating func state(at now: Instant) -> State {
        let availability: Availability =
            if let wait = breaker.wait(at: now) { .paused(for: wait) } else { breaker.isOpen ? .probe : .ready }
        return State(points: score.points(at: now), availability: availability)
    }

    /// The time until the provider may be called again; nil if it may be called now.
    package func pause(at now: Instant) -> Duration? {
        breaker.wait(at: now)
    }

    /// True if the provider is paused, or the next message is a probe.
    package var isOpen: Bool { breaker.isOpen }

    /// Allows a call, or returns the time to wait.
    ///
    /// Each allowed call must be ended with its answer.
    package mutating func begin(at now: Instant) -> Breaker.Entry {
        breaker.begin(at: now)
    }

    package mutating func end(_ call: Breaker.Call, _ answer: ProviderAnswer, at now: Instant) {
        breaker.end(call, answer, at: now)
        guard answer.untried == nil, !answer.isOfMessage else { return }
        switch answer.outcome {
        case .notSent, .misconfigured, .unknown: score.noteError(at: now)
        case .accepted, .refused, .impossible, .optedOut, .fraud, .throttled: break
        }
    }

    /// Records the time from handing a message to the provider until it arrived.
    package mutating func noteArrival(after time: Duration, at now: Instant) {
        score.noteArrival(after: time, at: now)
    }

    package func isSlow(at now: Instant) -> Bool {
        score.isSlow(at: now)
    }

    package mutating func loseForSlowness(at now: Instant) {
        score.loseForSlowness(at: now)
    }
}
