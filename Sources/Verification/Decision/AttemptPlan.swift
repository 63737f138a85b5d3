// SPDX-License-Identifier: Apache-2.0

/// The calls to providers for one claim of a send: which one next, and what the answers come to.
///
/// Another provider is asked, or the same one later, only after an answer that the message was surely not taken. When an
/// answer is lost, a provider that takes an idempotency key is called again with the same key; from then on only the
/// provider's acceptance tells more than that nobody can know.
package struct AttemptPlan: Sendable {
    /// Calls in all for one send, over every claim of it.
    package static let maximumAttempts: Int16 = 3

    /// However long a provider asks to wait: the sweep must look again before the message's time is over.
    package static let longestDelay = Duration.seconds(60)

    /// What a provider that takes nothing now is waited for at most, since it may be back sooner.
    package static let longestPause = Duration.seconds(2)

    /// What it is waited for at least behind another one's refusal: that one would be asked again, in vain.
    package static let shortestPauseBehindRefusal = Duration.seconds(5)

    package enum Step: Sendable, Equatable {
        case call(provider: String)
        case finish(SendDisposition)
    }

    package private(set) var attempts: Int16
    private let idempotent: Set<String>
    private var remaining: ArraySlice<String>
    private var current: String?

    /// The providers that refused the message.
    package private(set) var refusers: [String] = []
    private var isUnknown = false
    private var retryAfter: Duration?

    /// The time until a provider that was passed over may be asked.
    private var pause: Duration?

    /// - Parameters:
    ///   - providers: the route's, in order.
    ///   - idempotent: those that take the send's id as an idempotency key.
    ///   - attempts: calls made by earlier claims.
    package init(providers: [String], idempotent: Set<String> = [], attempts: Int16) {
        remaining = providers[...]
        self.idempotent = idempotent
        self.attempts = attempts
    }

    /// The first step of the claim.
    package mutating func start() -> Step {
        next(delay: nil)
    }

    /// The step after an answer.
    package mutating func step(after answer: ProviderAnswer) -> Step {
        if isUnknown { return stepInDoubt(after: answer.outcome) }
        switch answer.outcome {
        case .accepted:
            return .finish(.sent)
        case .unknown:
            return stepInDoubt(after: .unknown)
        case .fraud:
            return .finish(.failed(.fraudBlocked))
        case .impossible, .refused:
            if let current { refusers.append(current) }
            return next(delay: nil)
        case .notSent, .misconfigured:
            return next(delay: answer.retryAfter ?? .seconds(1))
        case .throttled:
            return next(delay: answer.retryAfter ?? .seconds(2))
        }
    }

    /// The step when the provider was not called, since it takes nothing for now: no attempt is spent.
    package mutating func passOver(for wait: Duration) -> Step {
        attempts -= 1
        if isUnknown { return .finish(.unknown(.timeout)) }
        pause = min(pause ?? wait, wait)
        return next(delay: nil)
    }

    /// The end when the provider was not called, since the claim's time is over: no attempt is spent.
    package mutating func runOut() -> Step {
        attempts -= 1
        return .finish(isUnknown ? .unknown(.timeout) : .retry(after: .zero))
    }

    /// The message may have been taken: nobody else is asked, and a refusal proves nothing, as it may be one of the
    /// repetition.
    private mutating func stepInDoubt(after outcome: ProviderOutcome) -> Step {
        isUnknown = true
        switch outcome {
        case .accepted:
            return .finish(.sent)
        case .unknown, .notSent:
            guard let current, idempotent.contains(current), attempts < Self.maximumAttempts else { break }
            attempts += 1
            return .call(provider: current)
        case .throttled, .refused, .impossible, .fraud, .misconfigured:
            break
        }
        return .finish(.unknown(.timeout))
    }

    private mutating func next(delay: Duration?) -> Step {
        if let delay { retryAfter = min(retryAfter ?? delay, delay) }
        guard attempts < Self.maximumAttempts else { return exhausted() }
        current = remaining.popFirst()
        if let current {
            attempts += 1
            return .call(provider: current)
        }
        // Every provider of the route has been asked. One that could not be reached may be asked again.
        let growth = 1 << Int(min(max(attempts, 1), 5) - 1)
        let delays = [retryAfter.map { $0 * growth }, patience].compactMap(\.self)
        guard let delay = delays.min() else { return exhausted() }
        return .finish(.retry(after: min(delay, Self.longestDelay)))
    }

    private var wasRefused: Bool { !refusers.isEmpty }

    private var patience: Duration? {
        pause.map { wasRefused ? max($0, Self.shortestPauseBehindRefusal) : min($0, Self.longestPause) }
    }

    private func exhausted() -> Step {
        .finish(.failed(wasRefused && retryAfter == nil ? .providerRefused : .providerUnavailable))
    }
}
