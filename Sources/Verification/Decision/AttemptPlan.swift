// SPDX-License-Identifier: Apache-2.0

/// The calls to providers for one claim of a send: which one next, and what the answers come to.
///
/// Another provider is asked, or the same one later, only after an answer that the message was surely not taken.
package struct AttemptPlan: Sendable {
    /// Calls in all for one send, over every claim of it.
    package static let maximumAttempts: Int16 = 3

    /// However long a provider asks to wait: the sweep must look again before the message's time is over.
    package static let longestDelay = Duration.seconds(60)

    package enum Step: Sendable, Equatable {
        case call(provider: String)
        case finish(SendDisposition)
    }

    package private(set) var attempts: Int16
    private var remaining: ArraySlice<String>
    private var wasRefused = false
    private var retryAfter: Duration?

    /// - Parameters:
    ///   - providers: the route's, in order.
    ///   - attempts: calls made by earlier claims.
    package init(providers: [String], attempts: Int16) {
        remaining = providers[...]
        self.attempts = attempts
    }

    /// The first step of the claim.
    package mutating func start() -> Step {
        next(delay: nil)
    }

    /// The step after an answer.
    package mutating func step(after answer: ProviderAnswer) -> Step {
        switch answer.outcome {
        case .accepted:
            return .finish(.sent)
        case .unknown:
            return .finish(.unknown(.timeout))
        case .fraud:
            return .finish(.failed(.fraudBlocked))
        case .impossible, .refused:
            wasRefused = true
            return next(delay: nil)
        case .notSent, .misconfigured:
            return next(delay: answer.retryAfter ?? .seconds(1))
        case .throttled:
            return next(delay: answer.retryAfter ?? .seconds(2))
        }
    }

    private mutating func next(delay: Duration?) -> Step {
        if let delay { retryAfter = min(retryAfter ?? delay, delay) }
        guard attempts < Self.maximumAttempts else { return exhausted() }
        if let provider = remaining.popFirst() {
            attempts += 1
            return .call(provider: provider)
        }
        // Every provider of the route has been asked. One that could not be reached may be asked again.
        guard let retryAfter else { return exhausted() }
        let delay = retryAfter * (1 << Int(min(attempts, 5) - 1))
        return .finish(.retry(after: min(delay, Self.longestDelay)))
    }

    private func exhausted() -> Step {
        .finish(.failed(wasRefused && retryAfter == nil ? .providerRefused : .providerUnavailable))
    }
}
