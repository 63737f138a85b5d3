// SPDX-License-Identifier: Apache-2.0

/// What one worker knows of all of its providers.
package struct HealthBoard: Sendable {
    package typealias Instant = ContinuousClock.Instant

    private var providers: [String: ProviderHealth]
    private let channels: [String: Channel]

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

    /// The order in which one send asks the providers of a route.
    package mutating func order(
        _ route: Route,
        used: Set<String> = [],
        at now: Instant,
        using generator: inout some RandomNumberGenerator
    ) -> [String] {
        var states: [String: ProviderHealth.State] = [:]
        for name in route.providers { states[name] = state(of: name, at: now) }
        return RouteChoice.order(route: route, health: states, used: used, using: &generator)
    }

    /// Lets a call to a provider through, or says how long to wait; nil for a provider that does not exist.
    package mutating func begin(_ provider: String, at now: Instant) -> Breaker.Entry? {
        providers[provider]?.begin(at: now)
    }

    /// Takes the answer to a call.
    package mutating func end(_ call: Breaker.Call, of provider: String, _ answer: ProviderAnswer, at now: Instant) {
        providers[provider]?.end(call, answer, at: now)
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
