// SPDX-License-Identifier: Apache-2.0

/// The calls to providers for one claim of a send: which one next, and what the answers come to.
///
/// Another provider is asked, or the same one later, only after an answer that the message was surely not taken. When an
/// answer is lost, a provider that takes an idempotency key is called again with the same key; from then on only the
/// provider's acceptance tells more than that nobody can know.
package struct AttemptPlan: Sendable {
    /// Calls in all for one send, over every claim of it.
    package static let maximumAttempts: Int16 = 3

    /// What a provider that takes nothing now is waited for at most, since it may be back sooner.
    package static let longestPause = Duration.seconds(2)

    package enum Step: Sendable, Equatable {
        case call(provider: String)
        case finish(SendDisposition)
    }

    package private(set) var attempts: Int16
    let providers: [String]
    let idempotent: Set<String>
    let repetition: Repetition?
    let repeatsUnknown: Bool

    /// Whether other providers are asked after the recipient's opt-out at one.
    let onOptOut: OptOutRule
    private var remaining: ArraySlice<String>

    /// The provider that was called last, or is to be called now.
    package private(set) var provider: String?

    /// The answer to be told of those that the claim got.
    private(set) var told: Told?

    /// The providers that refused the message, in earlier claims too: they are not asked again.
    package private(set) var refusers: [String]
    private var isUnknown = false
    /// Whether the recipient has opted out at one of the providers, now or earlier.
    private var isOptedOut: Bool
    private var retryAfter: Duration?

    /// Whether some provider takes messages again only when this one's time is over.
    private var isTooLateForOne = false

    /// The time until a provider that was passed over may be asked.
    private var pause: Duration?

    /// - Parameters:
    ///   - providers: the route's, in order.
    ///   - idempotent: those that take the send's id as an idempotency key.
    ///   - refusers: those that refused the message in earlier claims.
    ///   - attempts: calls made by earlier claims.
    ///   - repetition: of a send that is handed over once more.
    ///   - repeatsUnknown: whether one whose outcome is unknown is to be (`worker.unknownOutcome: resend_once`).
    ///   - onOptOut: the policy's rule.
    ///   - isOptedOut: whether the recipient has opted out before, so that the providers are those still allowed.
    package init(
        providers: [String],
        idempotent: Set<String> = [],
        refusers: [String] = [],
        attempts: Int16,
        repetition: Repetition? = nil,
        repeatsUnknown: Bool = false,
        onOptOut: OptOutRule = .stop,
        isOptedOut: Bool = false
    ) {
        remaining = providers.filter { !refusers.contains($0) }[...]
        self.providers = providers
        self.refusers = refusers
        self.idempotent = idempotent
        self.attempts = attempts
        self.repetition = repetition
        self.repeatsUnknown = repeatsUnknown
        self.onOptOut = onOptOut
        self.isOptedOut = isOptedOut
    }

    /// The first step of the claim.
    package mutating func start() -> Step {
        next()
    }

    /// The step after the answer to a message in an encoding, with so much of the message's time left.
    package mutating func step(
        after answer: ProviderAnswer,
        encoding: TextEncoding? = nil,
        timeLeft: Duration
    ) -> Step {
        if let provider {
            let attempt = SendResult.Attempt(provider: provider, answer: answer, encoding: encoding)
            told = Told(attempt, answer.outcome, before: told)
        }
        if isUnknown { return stepInDoubt(after: answer.outcome) }
        switch answer.outcome {
        case .accepted:
            return .finish(.sent)
        case .unknown:
            return stepInDoubt(after: .unknown)
        case .fraud:
            return .finish(.failed(.fraudBlocked))
        case .optedOut where onOptOut == .stop:
            return .finish(.failed(.optedOut))
        case .impossible, .refused, .optedOut:
            if answer.outcome == .optedOut { isOptedOut = true }
            if let provider { refusers.append(provider) }
        case .notSent, .misconfigured:
            noteDelay(answer.retryAfter, else: .seconds(1), timeLeft)
        case .throttled:
            noteDelay(answer.retryAfter, else: .seconds(2), timeLeft)
        }
        return next()
    }

    /// Notes when the provider may be asked again: after the time that it names, unless the message is too late by then.
    private mutating func noteDelay(_ asked: Duration?, else usual: Duration, _ timeLeft: Duration) {
        let growth = 1 << Int(min(max(attempts, 1), 5) - 1)
        let delay = asked ?? usual * growth
        if asked != nil, delay >= timeLeft {
            isTooLateForOne = true
        } else {
            retryAfter = min(retryAfter ?? delay, delay)
        }
    }

    /// The step when the provider was not called, since it takes nothing for now: no attempt is spent.
    package mutating func passOver(for wait: Duration) -> Step {
        attempts -= 1
        if isUnknown { return .finish(.unknown(.timeout)) }
        pause = min(pause ?? wait, wait)
        return next()
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
            guard let provider, idempotent.contains(provider), attempts < Self.maximumAttempts else { break }
            attempts += 1
            return .call(provider: provider)
        case .throttled, .refused, .impossible, .optedOut, .fraud, .misconfigured:
            break
        }
        return .finish(.unknown(.timeout))
    }

    private mutating func next() -> Step {
        guard attempts < Self.maximumAttempts else { return exhausted() }
        provider = remaining.popFirst()
        if let provider {
            attempts += 1
            return .call(provider: provider)
        }
        // Every provider of the route has been asked. One that could not be reached may be asked again.
        let delays = [retryAfter, pause.map { min($0, Self.longestPause) }].compactMap(\.self)
        guard let delay = delays.min() else { return exhausted() }
        return .finish(.retry(after: max(delay, .zero)))
    }

    private func exhausted() -> Step {
        let mayBeTaken = retryAfter != nil || isTooLateForOne || (refusers.isEmpty && !isOptedOut)
        return .finish(.failed(mayBeTaken ? .providerUnavailable : isOptedOut ? .optedOut : .providerRefused))
    }
}
