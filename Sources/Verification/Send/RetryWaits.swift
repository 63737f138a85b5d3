// SPDX-License-Identifier: Apache-2.0

/// The delays after which providers that did not take a message may be called again, and the choice of the one to
/// retry.
struct RetryWaits: Sendable, Equatable {
    struct Wait: Sendable, Equatable {
        let provider: String?
        let delay: Duration

        /// True if the provider requested the delay: by a retry-after time, or by throttling.
        let isRequested: Bool

        /// True if the provider refuses every message of ours.
        let isMisconfigured: Bool
    }

    /// The maximum requested delay that is preferred to a shorter delay of another provider.
    static let longestRequested = Duration.seconds(10)

    private var waits: [Wait] = []

    /// True if some provider accepts messages again only after this message's deadline.
    private var isTooLateForOne = false

    var isEmpty: Bool { waits.isEmpty && !isTooLateForOne }

    /// Adds a provider's delay: the one it requests, unless that ends after the deadline, else exponential backoff.
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
                isRequested: answer.retryAfter != nil || answer.outcome == .throttled,
                isMisconfigured: answer.outcome == .misconfigured
            )
        )
    }

    /// The delay of the provider to retry; nil if none may be called again.
    ///
    /// Providers that requested a delay of at most `longestRequested` are preferred to others, and then the shortest delay
    /// wins. A misconfigured provider is called again only if there is no other.
    var next: Wait? {
        let usable = waits.filter { !$0.isMisconfigured }
        let requested = usable.filter { $0.isRequested && $0.delay <= Self.longestRequested }
        for candidates in [requested, usable, waits] where !candidates.isEmpty {
            return candidates.min { $0.delay < $1.delay }
        }
        return nil
    }
}
