// SPDX-License-Identifier: Apache-2.0

import Formats

extension AttemptPlan {
    /// The result of the planned send when the plan ends with `end`.
    ///
    /// `timeLeft` is the time until the send's deadline, and `policy` has the prices.
    package func result(
        _ end: SendDisposition,
        of send: ClaimedSend,
        timeLeft: Duration,
        policy: Policy? = nil
    ) -> SendResult {
        let disposition = settled(end, timeLeft)
        // The provider that failed the repetition is not the one that may have the message: the event must not name it.
        let isOfAnother = repetition != nil && disposition != end
        let attempt = isOfAnother ? nil : attempt(of: disposition)
        return SendResult(
            send: send.reference,
            disposition: disposition,
            attempts: attempts,
            attempt: attempt,
            doubtful: repetition?.doubtful,
            refusers: refusers,
            cost: disposition == .sent && !send.isFictional
                ? attempt.flatMap { policy?.cost($0.provider, send.recipient, send.region, segments: $0.segments) }
                : nil,
            verification: send.verification
        )
    }

    /// The call that the send's row keeps: for a retry, the call to the provider to retry at, which the next claim
    /// calls first.
    private func attempt(of disposition: SendDisposition) -> SendResult.Attempt? {
        guard case .retry = disposition, let retryProvider, retryProvider != reported?.attempt.provider else {
            return reported?.attempt
        }
        return SendResult.Attempt(
            provider: retryProvider,
            messageID: nil,
            segments: nil,
            encoding: nil,
            errorCode: reported?.attempt.errorCode
        )
    }

    /// The result of a claim that stops before its next call: another claim calls that provider.
    package func handedBack(_ send: ClaimedSend) -> SendResult? {
        var plan = self
        guard case .finish(let disposition) = plan.take(.tooLate, timeLeft: .zero) else { return nil }
        return SendResult(
            send: send.reference,
            disposition: disposition,
            attempts: plan.attempts,
            attempt: reported?.attempt,
            refusers: refusers
        )
    }

    /// The final disposition of a send that may be, or has been, handed over twice.
    ///
    /// With `repeatsUnknown`, an unknown outcome becomes one more attempt if some provider is left for it. If that
    /// attempt surely fails, the first attempt's outcome is still unknown.
    private func settled(_ end: SendDisposition, _ timeLeft: Duration) -> SendDisposition {
        switch (end, repetition) {
        // A retry after the deadline would find the send expired: retry at the deadline, so that its end is published
        // on time.
        case (.retry(let delay), _):
            return .retry(after: min(delay, timeLeft))
        case (.unknown(let reason), nil) where repeatsUnknown && attempts < Self.maximumAttempts:
            let tried = refusers + [reported?.attempt.provider].compactMap(\.self)
            let repetition = Repetition(reason: reason, triedProviders: tried)
            return repetition.order(providers, idempotent: idempotent).isEmpty ? end : .repeatOnce
        case (.failed, let repetition?):
            return .unknown(repetition.reason)
        default:
            return end
        }
    }

    /// The answer that the event reports: of all answers to a send the closest to an acceptance, and of equals the
    /// last.
    struct ReportedAnswer: Sendable {
        let attempt: SendResult.Attempt
        private let rank: Int

        init(_ attempt: SendResult.Attempt, _ outcome: ProviderOutcome, before: ReportedAnswer?) {
            let reported = before.flatMap { $0.rank > outcome.rank ? $0 : nil }
            self.attempt = reported?.attempt ?? attempt
            rank = reported?.rank ?? outcome.rank
        }
    }
}

extension ProviderOutcome {
    /// The order of outcomes by closeness to an acceptance.
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
            // A refused message's id must not match receipts of the send.
            messageID: [.accepted, .unknown].contains(answer.outcome) ? answer.messageID : nil,
            segments: answer.segments ?? encoding?.segments,
            encoding: encoding?.alphabet.rawValue,
            errorCode: answer.errorCode
        )
    }
}
