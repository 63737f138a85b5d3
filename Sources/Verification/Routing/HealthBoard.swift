// SPDX-License-Identifier: Apache-2.0

/// The health of all providers, as seen by one worker.
package struct HealthBoard: Sendable {
    package typealias Instant = ContinuousClock.Instant

    private var providers: [String: ProviderHealth]
    private let channels: [String: Channel]

    /// The error codes of the providers that accept no messages, by name.
    ///
    /// A provider is in it from its first pause until it accepts a message: a failed probe is no sign of life.
    package private(set) var paused: [String: String] = [:]

    package enum Change: Sendable, Equatable {
        /// The provider is skipped from now on; the pause ends with a probe.
        case paused(for: Duration)

        /// The provider accepts messages again.
        case resumed
    }

    /// - Parameters:
    ///   - channels: the channel that each provider serves, by the provider's name.
    ///   - probeLimit: the time limit for a probe's answer.
    package init(channels: [String: Channel], probeLimit: Duration = Breaker.probeLimit) {
        self.channels = channels
        providers = channels.mapValues { _ in ProviderHealth(probeLimit: probeLimit) }
    }

    package mutating func state(of provider: String, at now: Instant) -> ProviderHealth.State {
        providers[provider]?.state(at: now) ?? ProviderHealth.State()
    }

    /// The time until the provider accepts messages again; nil if it accepts them now.
    package func pause(of provider: String, at now: Instant) -> Duration? {
        providers[provider]?.pause(at: now)
    }

    /// The time until one of the providers accepts messages again; nil if one accepts them now.
    package func pause(of names: [String], at now: Instant) -> Duration? {
        var shortest: Duration?
        for name in names {
            guard let wait = pause(of: name, at: now) else { return nil }
            shortest = min(shortest ?? wait, wait)
        }
        return shortest
    }

    package func hasPause(at now: Instant) -> Bool {
        providers.values.contains { $0.pause(at: now) != nil }
    }

    /// The order in which one send calls the providers of a route.
    package mutating func order(
        _ route: Route,
        used: Set<String> = [],
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [String] {
        if used.isEmpty, case .ordered(let names) = route, names.allSatisfy({ pause(of: $0, at: now) == nil }) {
            return names
        }
        var states: [String: ProviderHealth.State] = [:]
        for name in route.providers { states[name] = state(of: name, at: now) }
        return RouteChoice.order(route: route, health: states, used: used, using: &generator)
    }

    /// Allows a call to a provider, or returns the time to wait.
    ///
    /// Returns nil for a provider that does not exist.
    package mutating func begin(_ provider: String, at now: Instant) -> Breaker.Entry? {
        guard let place = providers.index(forKey: provider) else { return nil }
        return providers.values[place].begin(at: now)
    }

    /// Records a call's answer, and returns the change of the provider's availability, if any.
    ///
    /// A change is returned once, however many calls are in flight. Calls that never reached the provider are ignored.
    @discardableResult
    package mutating func end(
        _ call: Breaker.Call,
        of provider: String,
        _ answer: ProviderAnswer,
        at now: Instant
    ) -> Change? {
        guard let place = providers.index(forKey: provider) else { return nil }
        providers.values[place].end(call, answer, at: now)
        guard answer.untried == nil else { return nil }
        guard providers.values[place].isOpen else {
            return paused.removeValue(forKey: provider) == nil ? nil : .resumed
        }
        let known = paused[provider]
        paused[provider] = answer.failure ?? known ?? Self.noAnswer
        return known == nil ? .paused(for: providers.values[place].pause(at: now) ?? .zero) : nil
    }

    /// The error code of a provider that is paused because of its silence.
    private static let noAnswer = "no_answer"

    /// Records the time from handing a message to its provider until it arrived.
    ///
    /// A slow provider loses points only if another one of its channel is not slow: otherwise the cause is elsewhere,
    /// and a shift of messages would not help.
    package mutating func noteArrival(_ provider: String, after time: Duration, at now: Instant) {
        providers[provider]?.noteArrival(after: time, at: now)
        guard providers[provider]?.isSlow(at: now) == true else { return }
        let hasFaster = providers.contains { name, health in
            name != provider && channels[name] == channels[provider] && !health.isSlow(at: now)
        }
        if hasFaster { providers[provider]?.loseForSlowness(at: now) }
    }
}

extension ProviderAnswer {
    /// The error code of an answer for which a provider is paused; nil for other answers.
    fileprivate var failure: String? {
        switch outcome {
        case .notSent, .throttled, .misconfigured, .unknown: isOfMessage ? nil : errorCode ?? outcome.rawValue
        case .accepted, .refused, .impossible, .optedOut, .fraud: nil
        }
    }
}
