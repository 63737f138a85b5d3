// SPDX-License-Identifier: Apache-2.0

/// Keeps messages away from a provider that takes none, and lets one through at a time to find out when it does again.
///
/// It opens after failures in a row, after a silence, and for a pause that the provider asks for. While it is open the
/// provider is passed over. When the pause is over one real message goes through as a probe: its answer closes the breaker
/// or opens it for longer. A probe without an answer is given up, so that no breaker stays open for good.
///
/// Answers to calls that began before the breaker opened change nothing: hundreds may be under way, and each would
/// double the pause.
package struct Breaker: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// Failures in a row that open it.
    package static let failuresToOpen = 5

    /// The first pause; each one that follows without an answer in between is twice as long.
    package static let firstPause = Duration.seconds(1)

    /// The longest pause after failures: what a probe every few seconds costs is little beside a healed provider
    /// that people wait for.
    package static let longestPause = Duration.seconds(4)

    /// The longest pause where a probe is pointless: a throttled caller, or one that an operator has to set right.
    package static let longestForbearance = Duration.seconds(30)

    /// However long a provider asks to wait.
    package static let longestRetryAfter = Duration.seconds(60)

    /// With this many calls under way and not one answer for so long, a provider counts as dead.
    ///
    /// A call has 10 s, in which every message of that time would be lost with it. A provider that is slow and answers
    /// is given twice the time that its answers take.
    package static let patience = Duration.seconds(2)

    /// How long a probe's answer is waited for, unless said otherwise.
    package static let probeLimit = Duration.seconds(15)

    /// A call that was let through.
    package struct Call: Sendable, Equatable {
        package let startedAt: Instant
        fileprivate let era: Int
    }

    package enum Entry: Sendable, Equatable {
        case go(Call)

        /// The provider is passed over; it may be asked again after this time.
        case wait(Duration)
    }

    private enum Gate {
        case closed
        case open(until: Instant)

        /// One call is under way; after the time another one may go.
        case probing(until: Instant)
    }

    private var gate = Gate.closed
    private var failures = 0

    /// Openings since the last answer that a message was looked at.
    private var openings = 0

    /// Counts the openings and probes: what a call of an earlier era comes to says nothing of now.
    private var era = 0
    private var underWay = 0

    /// The last answer, or the first call under way.
    private var quietSince: Instant?
    private var patience = Self.patience
    private let probeLimit: Duration
    private var jitter: UInt64

    /// - Parameters:
    ///   - seed: varies the pauses, so that workers do not probe all at once.
    ///   - probeLimit: more than a call's deadline: after it nobody waits for the probe's answer.
    package init(seed: UInt64 = .random(in: .min ... .max), probeLimit: Duration = Self.probeLimit) {
        jitter = seed
        self.probeLimit = probeLimit
    }

    /// How long until a call may go; nil when one may go now.
    package func wait(at now: Instant) -> Duration? {
        switch gate {
        case .closed: isSilent(at: now) ? Self.firstPause : nil
        case .open(let end), .probing(let end): end <= now ? nil : now.duration(to: end)
        }
    }

    /// Whether the next call is a probe.
    package var isOpen: Bool {
        if case .closed = gate { false } else { true }
    }

    /// Lets a call through, or says how long to wait.
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

    /// Takes the answer to a call.
    package mutating func end(_ call: Call, _ answer: ProviderAnswer, at now: Instant) {
        if answer.outcome == .accepted {
            patience = max(Self.patience, call.startedAt.duration(to: now) * 2, patience * 9 / 10)
        }
        guard call.era == era else { return }
        underWay -= 1
        if answer.untried != nil {
            // A probe that never left makes room for another one.
            if isOpen { gate = .open(until: now) }
            return
        }
        quietSince = now
        let asked = min(answer.retryAfter ?? .zero, Self.longestRetryAfter)
        switch answer.outcome {
        case .accepted, .refused, .impossible, .optedOut, .fraud,
            _ where answer.isOfMessage:
            // A provider that judges messages is alive.
            gate = .closed
            failures = 0
            openings = 0
        case .throttled:
            open(for: max(asked, pause(upTo: Self.longestForbearance)), at: now)
        case .notSent, .unknown:
            fail(at: now, shortest: asked, longest: Self.longestPause)
        case .misconfigured:
            fail(at: now, longest: Self.longestForbearance)
        }
    }

    private func isSilent(at now: Instant) -> Bool {
        guard underWay >= Self.failuresToOpen, let quietSince else { return false }
        return quietSince.duration(to: now) >= patience
    }

    /// Counts a failure; a pause is at least as long as the provider asks to wait, and else `longest` at most.
    private mutating func fail(at now: Instant, shortest: Duration = .zero, longest: Duration) {
        failures += 1
        guard isOpen || failures >= Self.failuresToOpen else { return }
        open(for: max(shortest, pause(upTo: longest)), at: now)
    }

    private mutating func open(for pause: Duration, at now: Instant) {
        gate = .open(until: now + pause)
        era += 1
        failures = 0
        underWay = 0
        openings += 1
    }

    /// The next pause: three quarters to the whole of the doubled time.
    private mutating func pause(upTo longest: Duration) -> Duration {
        // Knuth's MMIX generator; the upper bits are the good ones.
        jitter = jitter &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let whole = min(Self.firstPause * (1 << min(openings, 10)), longest)
        return whole * (768 + Int(jitter >> 56)) / 1024
    }
}
