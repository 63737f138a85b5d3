// SPDX-License-Identifier: Apache-2.0

/// What one worker knows of all of its providers.
package struct HealthBoard: Sendable {
    package typealias Instant = ContinuousClock.Instant

    private var providers: [String: ProviderHealth]
    private let channels: [String: Channel]

    /// Those of which it was last told that they are passed over.
    private var paused: Set<String> = []

    /// What an answer changes for those who choose a provider.
    package enum Change: Sendable {
        /// It is passed over from now on.
        case paused

        /// It takes messages again.
        case resumed
    }

    /// - Parameters:
    ///   - channels: the providers' names, each with the channel it serves.
    ///   - probeLimit: how long a probe's answer is waited for.
    package init(channels: [String: Channel], probeLimit: Duration = Breaker.probeLimit) {
        self.channels = channels
        providers = channels.mapValues { _ in ProviderHealth(probeLimit: probeLimit) }
    }

    package mutating func state(of provider: String, at now: Instant) -> ProviderHealth.State {
        providers[provider]?.state(at: now) ?? ProviderHealth.State()
    }

    /// How long a provider takes no message; nil when it does.
    package func pause(of provider: String, at now: Instant) -> Duration? {
        providers[provider]?.pause(at: now)
    }

    /// How long none of these takes a message; nil when one does.
    package func pause(of names: [String], at now: Instant) -> Duration? {
        var shortest: Duration?
        for name in names {
            guard let wait = pause(of: name, at: now) else { return nil }
            shortest = min(shortest ?? wait, wait)
        }
        return shortest
    }

    /// Whether some provider takes no message.
    package func hasPause(at now: Instant) -> Bool {
        providers.values.contains { $0.pause(at: now) != nil }
    }

    /// The order in which one send asks the providers of a route.
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

    /// Lets a call to a provider through, or says how long to wait.
    ///
    /// Nil for a provider that does not exist.
    package mutating func begin(_ provider: String, at now: Instant) -> Breaker.Entry? {
        guard let place = providers.index(forKey: provider) else { return nil }
        return providers.values[place].begin(at: now)
    }

    /// Takes the answer to a call, and returns what is news about the provider, of however many calls under way once.
    ///
    /// A call that the provider never saw is none.
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
        guard providers.values[place].pause(at: now) == nil else {
            return paused.insert(provider).inserted ? .paused : nil
        }
        return paused.remove(provider) == nil ? nil : .resumed
    }

    /// Takes the time that a message took from its provider to the recipient.
    ///
    /// A slow provider loses points only while another one of its channel is not slow: otherwise the cause is elsewhere,
    /// and nobody would be better off.
    package mutating func noteArrival(_ provider: String, after time: Duration, at now: Instant) {
        providers[provider]?.noteArrival(after: time, at: now)
        guard providers[provider]?.isSlow(at: now) == true else { return }
        let hasFaster = providers.contains { name, health in
            name != provider && channels[name] == channels[provider] && !health.isSlow(at: now)
        }
        if hasFaster { providers[provider]?.loseForSlowness(at: now) }
    }
}
