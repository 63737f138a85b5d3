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

    /// True where other providers are asked after the recipient's opt-out at one.
    let onOptOut: OptOutRule
    private var remaining: ArraySlice<String>

    /// The provider that was called last, or is to be called now.
    package private(set) var provider: String?

    /// The answer to be told of those that the claim got.
    private(set) var told: Told?

    /// The providers that refused the message, in earlier claims too: they are not asked again.
    package private(set) var refusers: [String]
    private var isUnknown = false
    /// True where the recipient has opted out at one of the providers, now or earlier.
    private var isOptedOut: Bool

    /// When the providers that did not take the message may be asked again.
    private var waits = RetryWaits()

    /// True where some call was one that counts.
    private var hasAttempt = false

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
        case .notSent, .throttled, .misconfigured:
            waits.note(answer, by: provider, attempts: attempts, timeLeft: timeLeft)
        }
        // A provider that refuses every message of ours takes none of this one's few attempts.
        if answer.outcome == .misconfigured { attempts -= 1 } else { hasAttempt = true }
        return next()
    }

    /// The provider that a retry is meant for, since it said when; nil where the claim does not end by one.
    var retryProvider: String? { waits.next?.provider }

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
        let delays = [waits.next?.delay, pause.map { min($0, Self.longestPause) }].compactMap(\.self)
        guard let delay = delays.min() else { return exhausted() }
        if !hasAttempt, pause == nil {
            // Nobody could have taken it: the claim counts once, so that the message's end is told before its time is over.
            attempts += 1
            if attempts >= Self.maximumAttempts { return exhausted() }
        }
        return .finish(.retry(after: max(delay, .zero)))
    }

    private func exhausted() -> Step {
        let mayBeTaken = !waits.isEmpty || (refusers.isEmpty && !isOptedOut)
        return .finish(.failed(mayBeTaken ? .providerUnavailable : isOptedOut ? .optedOut : .providerRefused))
    }
}
