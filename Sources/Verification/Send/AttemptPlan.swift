// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The calls to providers for one claim of a send: chooses each next provider, and the disposition at the end.
///
/// The plan calls another provider, or retries the same one later, only after an answer that proves the message was not
/// taken. After a lost answer, a provider that accepts idempotency keys is called again with the same key; from then on
/// the outcome is unknown unless that provider accepts the message.
package struct AttemptPlan: Sendable {
    /// The maximum number of calls for one send, over all of its claims.
    package static let maximumAttempts: Int16 = 3

    /// The maximum wait for a paused provider, since it may resume earlier.
    package static let longestPause = Duration.seconds(2)

    package enum Step: Sendable, Equatable {
        case call(provider: String)
        case finish(SendDisposition)
    }

    /// The result of a call.
    package enum Attempt: Sendable {
        case answered(ProviderAnswer)

        /// The provider takes no message for this time and was not called; uses up no attempt.
        case skipped(for: Duration)

        /// The time of the claim or the message was over before the provider was called; uses up no attempt.
        case tooLate
    }

    /// The next call, or the end.
    package private(set) var step = Step.finish(.retry(after: .zero))

    package private(set) var attempts: Int16
    let providers: [String]
    let idempotent: Set<String>
    let repetition: Repetition?
    let repeatsUnknown: Bool

    /// Decides if other providers may be called after the recipient opted out at one.
    let onOptOut: OptOutRule
    private var remaining: ArraySlice<String>

    /// The provider of the current or the next call.
    package private(set) var provider: String?

    /// The answer that the result reports.
    private(set) var reported: ReportedAnswer?

    /// The providers that refused the message, in this or an earlier claim; they are not called again.
    package private(set) var refusers: [String]
    private var isUnknown = false
    /// True if the recipient has opted out at one of the providers, in this claim or before it.
    private var isOptedOut: Bool

    /// The delays after which providers that did not take the message may be called again.
    private var waits = RetryWaits()

    /// True after a call that counts as an attempt: any but to a misconfigured provider.
    private var hasAttempt = false

    /// The shortest remaining pause of the skipped providers.
    private var pause: Duration?

    /// - Parameters:
    ///   - providers: the route's providers, in order.
    ///   - idempotent: the providers that accept the send's id as an idempotency key.
    ///   - refusers: the providers that refused the message in earlier claims.
    ///   - attempts: the calls made by earlier claims.
    ///   - repetition: set if the send is handed over once more after an unknown outcome.
    ///   - repeatsUnknown: true if an unknown outcome gets one more attempt (`worker.unknownOutcome: resend_once`).
    ///   - onOptOut: the policy's rule.
    ///   - isOptedOut: true if the recipient has opted out before, so that `providers` holds only those still allowed.
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
        step = next()
    }

    /// Takes the result of the call that `step` demands, and returns the next step.
    ///
    /// `encoding` is that of an SMS; `timeLeft` is the time until the message's deadline.
    @discardableResult
    package mutating func take(_ attempt: Attempt, encoding: TextEncoding? = nil, timeLeft: Duration) -> Step {
        step =
            switch attempt {
            case .answered(let answer): next(after: answer, encoding, timeLeft)
            case .skipped(let wait): next(skippedFor: wait)
            case .tooLate: tooLate()
            }
        return step
    }

    private mutating func next(after answer: ProviderAnswer, _ encoding: TextEncoding?, _ timeLeft: Duration) -> Step {
        if let provider {
            let attempt = SendResult.Attempt(provider: provider, answer: answer, encoding: encoding)
            reported = ReportedAnswer(attempt, answer.outcome, before: reported)
        }
        if isUnknown { return nextInDoubt(after: answer.outcome) }
        switch answer.outcome {
        case .accepted:
            return .finish(.sent)
        case .unknown:
            return nextInDoubt(after: .unknown)
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
        // Misconfiguration says nothing of this message, so it uses up none of the message's few attempts.
        if answer.outcome == .misconfigured { attempts -= 1 } else { hasAttempt = true }
        return next()
    }

    /// The provider that the retry waits for; nil if no provider may be called again.
    var retryProvider: String? { waits.next?.provider }

    private mutating func next(skippedFor wait: Duration) -> Step {
        attempts -= 1
        if isUnknown { return .finish(.unknown(.timeout)) }
        pause = min(pause ?? wait, wait)
        return next()
    }

    private mutating func tooLate() -> Step {
        attempts -= 1
        return .finish(isUnknown ? .unknown(.timeout) : .retry(after: .zero))
    }

    /// Handles an answer while the message may have been taken.
    ///
    /// No other provider is called. A refusal proves nothing, since it may be a refusal of the repetition.
    private mutating func nextInDoubt(after outcome: ProviderOutcome) -> Step {
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
        // Every provider of the route was called or skipped; those that could not be reached may be called again.
        let delays = [waits.next?.delay, pause.map { min($0, Self.longestPause) }].compactMap(\.self)
        guard let delay = delays.min() else { return exhausted() }
        if !hasAttempt, pause == nil {
            // No provider could have taken the message. The claim counts as one attempt, so that the send fails before
            // its deadline.
            attempts += 1
            if attempts >= Self.maximumAttempts { return exhausted() }
        }
        return .finish(.retry(after: max(delay, .zero)))
    }

    private func exhausted() -> Step {
        if providers.isEmpty, refusers.isEmpty, !isOptedOut { return .finish(.failed(.noRoute)) }
        let mayBeTaken = !waits.isEmpty || (refusers.isEmpty && !isOptedOut)
        return .finish(.failed(mayBeTaken ? .providerUnavailable : isOptedOut ? .optedOut : .providerRefused))
    }
}
