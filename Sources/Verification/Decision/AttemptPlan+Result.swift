// SPDX-License-Identifier: Apache-2.0

extension AttemptPlan {
    /// What became of the send that the plan was made for, by the plan's end, with so much of its time left.
    package func result(_ end: SendDisposition, of send: ClaimedSend, timeLeft: Duration) -> SendResult {
        let disposition = settled(end, timeLeft)
        // Who refused the repetition is not who may have the message.
        let isOfAnother = repetition != nil && disposition != end
        return SendResult(
            send: send.reference,
            disposition: disposition,
            attempts: attempts,
            attempt: isOfAnother ? nil : attempt(of: disposition),
            doubtful: repetition?.doubtful,
            refusers: refusers,
            verification: send.verification
        )
    }

    /// The call that a row keeps: of a retry the one to the provider that it is for, which the next claim asks first.
    private func attempt(of disposition: SendDisposition) -> SendResult.Attempt? {
        guard case .retry = disposition, let retryProvider, retryProvider != told?.attempt.provider else {
            return told?.attempt
        }
        return SendResult.Attempt(
            provider: retryProvider,
            messageID: nil,
            segments: nil,
            encoding: nil,
            errorCode: told?.attempt.errorCode
        )
    }

    /// The result of a claim that goes no further: another one calls the next provider.
    package func handedBack(_ send: ClaimedSend) -> SendResult? {
        var plan = self
        guard case .finish(let disposition) = plan.runOut() else { return nil }
        return SendResult(
            send: send.reference,
            disposition: disposition,
            attempts: plan.attempts,
            attempt: told?.attempt,
            refusers: refusers
        )
    }

    /// What the end means for a send that may be, or has been, handed over twice.
    ///
    /// An unknown outcome becomes one more attempt where the operator prefers two messages to none, and there is a provider
    /// for it. When that attempt surely failed, the first one is as unknown as before.
    private func settled(_ end: SendDisposition, _ timeLeft: Duration) -> SendDisposition {
        switch (end, repetition) {
        // What comes back later than its time allows has to be told that at that time.
        case (.retry(let delay), _):
            return .retry(after: min(delay, timeLeft))
        case (.unknown(let reason), nil) where repeatsUnknown && attempts < Self.maximumAttempts:
            let tried = refusers + [told?.attempt.provider].compactMap(\.self)
            let repetition = Repetition(reason: reason, triedProviders: tried)
            return repetition.order(providers, idempotent: idempotent).isEmpty ? end : .repeatOnce
        case (.failed, let repetition?):
            return .unknown(repetition.reason)
        default:
            return end
        }
    }

    /// The answer that is told of those a send got: the one that came nearest to an acceptance, and of equal ones the last.
    struct Told: Sendable {
        let attempt: SendResult.Attempt
        private let rank: Int

        init(_ attempt: SendResult.Attempt, _ outcome: ProviderOutcome, before: Told?) {
            let told = before.flatMap { $0.rank > outcome.rank ? $0 : nil }
            self.attempt = told?.attempt ?? attempt
            rank = told?.rank ?? outcome.rank
        }
    }
}

extension ProviderOutcome {
    /// How near to an acceptance it is.
    fileprivate var rank: Int {
        switch self {
        case .refused, .impossible: 0
        case .misconfigured: 1
        case .notSent, .throttled, .optedOut: 2
        case .unknown: 3
        case .accepted, .fraud: 4
        }
    }
}

extension SendResult.Attempt {
    init(provider: String, answer: ProviderAnswer, encoding: TextEncoding?) {
        self.init(
            provider: provider,
            // The id of a message that was refused is none that a receipt of the send may name.
            messageID: [.accepted, .unknown].contains(answer.outcome) ? answer.messageID : nil,
            segments: answer.segments ?? encoding?.segments,
            encoding: encoding?.alphabet.rawValue,
            errorCode: answer.errorCode
        )
    }
}
