// SPDX-License-Identifier: Apache-2.0

/// What one worker knows of one provider: its points, and whether it takes messages at all.
package struct ProviderHealth: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// What a choice of providers looks at.
    package struct State: Sendable, Equatable {
        /// 0 to 100.
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

        /// The next message finds out whether the provider takes any again.
        case probe

        /// The provider is passed over for this time.
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

    /// How long the provider is passed over; nil when it is not.
    package func pause(at now: Instant) -> Duration? {
        breaker.wait(at: now)
    }

    /// Lets a call through, or says how long to wait.
    ///
    /// Each call that goes has to be ended by its answer.
    package mutating func begin(at now: Instant) -> Breaker.Entry {
        breaker.begin(at: now)
    }

    /// Takes the answer to a call.
    package mutating func end(_ call: Breaker.Call, _ answer: ProviderAnswer, at now: Instant) {
        breaker.end(call, answer, at: now)
        guard answer.untried == nil, !answer.isOfMessage else { return }
        switch answer.outcome {
        case .notSent, .misconfigured, .unknown: score.noteError(at: now)
        case .accepted, .refused, .impossible, .optedOut, .fraud, .throttled: break
        }
    }

    /// Takes the time that a message took from its provider to the recipient.
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
