// SPDX-License-Identifier: Apache-2.0

/// When the providers that did not take a message may be asked again, and which of them the retry is for.
struct RetryWaits: Sendable, Equatable {
    struct Wait: Sendable, Equatable {
        let provider: String?
        let delay: Duration

        /// True where the provider said so itself: by its time, or by the word that it takes too many messages.
        let isAsked: Bool

        /// True where the provider refuses every message of ours.
        let isMisconfigured: Bool
    }

    /// A provider that said when is waited for up to this long, although another one may be tried sooner.
    static let longestAsked = Duration.seconds(10)

    private var waits: [Wait] = []

    /// True where some provider takes messages again only when this one's time is over.
    private var isTooLateForOne = false

    var isEmpty: Bool { waits.isEmpty && !isTooLateForOne }

    /// Notes when a provider may be asked again: after the time that it names, unless the message is too late by then.
    mutating func note(_ answer: ProviderAnswer, by provider: String?, attempts: Int16, timeLeft: Duration) {
        let usual: Duration = answer.outcome == .throttled ? .seconds(2) : .seconds(1)
        let growth = 1 << Int(min(max(attempts, 1), 5) - 1)
        let delay = answer.retryAfter ?? usual * growth
        if answer.retryAfter != nil, delay >= timeLeft {
            isTooLateForOne = true
            return
        }
        waits.append(
            Wait(
                provider: provider,
                delay: delay,
                isAsked: answer.retryAfter != nil || answer.outcome == .throttled,
                isMisconfigured: answer.outcome == .misconfigured
            )
        )
    }

    /// The wait of the provider that the retry is for; nil where none may be asked again.
    ///
    /// Of those that said when the soonest; else the soonest of those that could not be reached. One that is misconfigured
    /// is asked again only where there is no other.
    var next: Wait? {
        let usable = waits.filter { !$0.isMisconfigured }
        let asked = usable.filter { $0.isAsked && $0.delay <= Self.longestAsked }
        for candidates in [asked, usable, waits] where !candidates.isEmpty {
            return candidates.min { $0.delay < $1.delay }
        }
        return nil
    }
}
