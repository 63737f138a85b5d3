// SPDX-License-Identifier: Apache-2.0

/// A circuit breaker: stops messages to a failing provider, and sends single probes until it accepts messages again.
///
/// It opens after consecutive failures, after a silence, and for a pause that the provider requests. While it is open,
/// the provider is skipped. When the pause is over, one real message is sent as a probe: its answer closes the breaker
/// or opens it for longer. A probe without an answer is abandoned, so that no breaker stays open for good.
///
/// Answers to calls that began before the breaker opened are ignored: hundreds may be in flight, and each would double
/// the pause.
package struct Breaker: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// The number of consecutive failures that open the breaker.
    package static let failuresToOpen = 5

    /// The number of consecutive failures that open the breaker if they took `slowFailureTime` or longer.
    ///
    /// At night the attempts of one message may be all that is known of a provider.
    package static let slowFailuresToOpen = Int(AttemptPlan.maximumAttempts)
    package static let slowFailureTime = Duration.seconds(1)

    /// The first pause; each further one without a success in between is twice as long.
    package static let firstPause = Duration.seconds(1)

    /// The longest pause after failures.
    ///
    /// A probe every few seconds costs little, and a longer pause would delay messages to a provider that has
    /// recovered.
    package static let longestPause = Duration.seconds(4)

    /// The longest pause when early probes are pointless: after throttling, or when an operator has to fix the
    /// configuration.
    package static let longestThrottlePause = Duration.seconds(30)

    /// The longest pause that a provider can request.
    package static let longestRetryAfter = Duration.seconds(60)

    /// The minimum silence, with `failuresToOpen` calls in flight, after which a provider counts as dead.
    ///
    /// A call may take 10 s, and every message of those 10 s would be lost with it. A slow provider that still answers
    /// is allowed twice the time of its answers.
    package static let maxWait = Duration.seconds(2)

    /// The default time limit for a probe's answer.
    package static let probeLimit = Duration.seconds(15)

    /// A call that the breaker allowed.
    package struct Call: Sendable, Equatable {
        package let startedAt: Instant
        fileprivate let era: Int
    }

    package enum Entry: Sendable, Equatable {
        case go(Call)

        /// The provider is skipped; it may be called again after this time.
        case wait(Duration)
    }

    private enum Gate {
        case closed
        case open(until: Instant)

        /// One probe is in flight; after `until` another one may follow.
        case probing(until: Instant)
    }

    private var gate = Gate.closed
    private var failures = 0

    /// The time of the first of these failures.
    private var failingSince: Instant?

    /// The number of openings since the provider last judged a message.
    private var openings = 0

    /// Incremented at each opening and probe: answers to calls of an earlier era are ignored.
    private var era = 0
    private var underWay = 0

    /// The time of the last answer, or of the first call in flight.
    private var quietSince: Instant?
    private var maxWait = Self.maxWait
    private let probeLimit: Duration
    private var jitter: UInt64

    /// - Parameters:
    ///   - seed: varies the pauses, so that workers do not probe all at once.
    ///   - probeLimit: longer than a call's deadline, after which no answer can arrive.
    package init(seed: UInt64 = .random(in: .min ... .max), probeLimit: Duration = Self.probeLimit) {
        jitter = seed
        self.probeLimit = probeLimit
    }

    /// The time until a call is allowed; nil if one is allowed now.
    package func wait(at now: Instant) -> Duration? {
        switch gate {
        case .closed: isSilent(at: now) ? Self.firstPause : nil
        case .open(let end), .probing(let end): end <= now ? nil : now.duration(to: end)
        }
    }

    /// True if the next call is a probe.
    package var isOpen: Bool {
        if case .closed = gate { false } else { true }
    }

    /// Allows a call, or returns the time to wait.
    package mutating func begin(at now: Instant) -> Entry {
        if case .closed = gate, isSilent(at: now) { open(for: pause(upTo: Self.longestPause), at: now) }
        if let wait = wait(at: now) { return .wait(wait) }
        if isOpen {
            era += 1
            underWay = 0
            gate = .probing(until: now + probeLimit)
        }
        if underWay == 0 { quietSince = now }
        underWay += 1
        return .go(Call(startedAt: now, era: era))
    }

    /// Records the answer to a call.
    package mutating func end(_ call: Call, _ answer: ProviderAnswer, at now: Instant) {
        if answer.outcome == .accepted {
            maxWait = max(Self.maxWait, call.startedAt.duration(to: now) * 2, maxWait * 9 / 10)
        }
        guard call.era == era else { return }
        underWay -= 1
        if answer.untried != nil {
            // A probe that was never sent allows the next one at once.
            if isOpen { gate = .open(until: now) }
            return
        }
        quietSince = now
        let requested = min(answer.retryAfter ?? .zero, Self.longestRetryAfter)
        switch answer.outcome {
        case .accepted, .refused, .impossible, .optedOut, .fraud,
            _ where answer.isOfMessage:
            // A provider that judges single messages is working.
            gate = .closed
            failures = 0
            openings = 0
        case .throttled:
            open(for: max(requested, pause(upTo: Self.longestThrottlePause)), at: now)
        case .notSent, .unknown:
            fail(at: now, shortest: requested, longest: Self.longestPause)
        case .misconfigured:
            fail(at: now, longest: Self.longestThrottlePause)
        }
    }

    private func isSilent(at now: Instant) -> Bool {
        guard underWay >= Self.failuresToOpen, let quietSince else { return false }
        return quietSince.duration(to: now) >= maxWait
    }

    /// Counts a failure; a pause is at least as long as the provider requests, otherwise at most `longest`.
    private mutating func fail(at now: Instant, shortest: Duration = .zero, longest: Duration) {
        failures += 1
        if failures == 1 { failingSince = now }
        let isSlow = failingSince.map { $0 + Self.slowFailureTime <= now } ?? false
        guard isOpen || failures >= (isSlow ? Self.slowFailuresToOpen : Self.failuresToOpen) else { return }
        open(for: max(shortest, pause(upTo: longest)), at: now)
    }

    private mutating func open(for pause: Duration, at now: Instant) {
        gate = .open(until: now + pause)
        era += 1
        failures = 0
        underWay = 0
        openings += 1
    }

    /// The next pause: 75 % to 100 % of the doubled time.
    private mutating func pause(upTo longest: Duration) -> Duration {
        // Knuth's MMIX linear congruential generator; only its upper bits are random enough.
        jitter = jitter &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let whole = min(Self.firstPause * (1 << min(openings, 10)), longest)
        return whole * (768 + Int(jitter >> 56)) / 1024
    }
}
