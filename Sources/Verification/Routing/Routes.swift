// SPDX-License-Identifier: Apache-2.0

package struct Routes: Sendable, Equatable {
    /// The route of text messages to regions without an entry in `regions`.
    package var fallback: Route
    package var regions: [Region: Route]
    package var email: Route

    /// The route of silent pushes by APNs.
    package var push: Route

    /// Decides if other providers may be called after a person opted out at one.
    package var onOptOut: OptOutRule

    package init(
        fallback: Route,
        regions: [Region: Route] = [:],
        email: Route = [],
        push: Route = [],
        onOptOut: OptOutRule = .stop
    ) {
        self.onOptOut = onOptOut
        self.fallback = fallback
        self.regions = regions
        self.email = email
        self.push = push
    }

    /// The route of a message; empty if the policy has none for the channel.
    package func route(for channel: Channel, region: Region) -> Route {
        switch channel {
        case .sms: regions[region] ?? fallback
        case .email: email
        case .apns: push
        }
    }

    /// The route of a message, reduced to one provider if the person has opted out there.
    ///
    /// Only that provider learns when the person opts in again; any other one would evade the opt-out.
    package func route(for channel: Channel, region: Region, optedOutAt provider: String?) -> Route {
        let route = route(for: channel, region: region)
        guard let provider, onOptOut == .stop else { return route }
        return route.only(provider)
    }
}

/// The rule for the remaining providers after the recipient opted out at one.
package enum OptOutRule: String, Sendable, CaseIterable {
    /// No other provider is called: after STOP, no other sender writes to the person.
    case stop

    /// The next provider is called, as after a refusal: for operators whose law or consent allows it.
    case next
}

/// The providers that may take a message: in a fixed order, or drawn by weight or by shares that adapt.
package enum Route: Sendable, Hashable {
    /// The next provider is called when the previous one surely did not take the message.
    case ordered([String])

    /// Each send draws an order: with weights that sum to 100, a provider of weight 70 is first in 70 % of the sends.
    case weighted([Share])

    /// As weighted, by the shares in force; they are equal as long as there are none.
    case adaptive(AdaptiveRoute)

    package struct Share: Sendable, Hashable {
        package let provider: String

        /// At least 1, relative to the other weights of the route.
        package let weight: Int

        package init(provider: String, weight: Int) {
            self.provider = provider
            self.weight = weight
        }
    }

    package var providers: [String] {
        switch self {
        case .ordered(let names): names
        case .weighted(let shares): shares.map(\.provider)
        case .adaptive(let route): route.providers
        }
    }

    package var isEmpty: Bool { providers.isEmpty }

    /// The route reduced to one of its providers; empty if the route does not have it.
    package func only(_ provider: String) -> Route {
        switch self {
        case .ordered(let names): .ordered(names.filter { $0 == provider })
        case .weighted(let shares): .weighted(shares.filter { $0.provider == provider })
        case .adaptive(let route): .ordered(route.providers.filter { $0 == provider })
        }
    }
}

extension Route: ExpressibleByArrayLiteral {
    package init(arrayLiteral names: String...) {
        self = .ordered(names)
    }
}

package enum RouteChoice {
    /// The minimum points at which a resend prefers a provider to the one that sent the message before.
    static let healthyPoints = 50

    /// Orders the providers of a route.
    ///
    /// An ordered route keeps its order; a weighted one draws without replacement, by weight × points. On a resend, the
    /// providers in `used` are placed after a healthy unused one, since the first message did not reach the person.
    /// Paused providers are last, since their pause may end before they are called.
    package static func order(
        route: Route,
        health: [String: ProviderHealth.State],
        used: Set<String> = [],
        using generator: inout some RandomNumberGenerator
    ) -> [String] {
        let order =
            switch route {
            case .ordered(let names): names
            case .weighted(let shares): draw(shares, health, using: &generator)
            case .adaptive(let route):
                draw(route.providers.map { Route.Share(provider: $0, weight: 1) }, health, using: &generator)
            }
        let state = { (name: String) in health[name] ?? ProviderHealth.State() }
        var available = order.filter { state($0).isAvailable }
        if available.contains(where: used.contains) {
            let isFresh = { (name: String) in !used.contains(name) && state(name).points >= healthyPoints }
            available = available.filter(isFresh) + available.filter { !isFresh($0) }
        }
        return available + order.filter { !state($0).isAvailable }
    }

    private static func draw(
        _ shares: [Route.Share],
        _ health: [String: ProviderHealth.State],
        using generator: inout some RandomNumberGenerator
    ) -> [String] {
        var left = shares.map { share in
            (name: share.provider, weight: share.weight * (health[share.provider]?.points ?? HealthScore.highest))
        }
        var drawn: [String] = []
        while !left.isEmpty {
            let sum = left.reduce(0) { $0 + $1.weight }
            // Without any points, the policy's order applies.
            var ticket = sum > 0 ? Int.random(in: 0..<sum, using: &generator) : 0
            let index = left.firstIndex { share in
                ticket -= share.weight
                return ticket < 0
            }
            drawn.append(left.remove(at: index ?? 0).name)
        }
        return drawn
    }
}

/// The routes of a policy that have no provider left: nobody on them gets a code.
package struct DeadRoutes: Sendable, Equatable {
    package let count: Int

    /// The error codes of their providers, by name.
    package let providers: [String: String]

    /// Finds them by the error codes of the providers that accept no messages.
    package init(of policy: Policy, without paused: [String: String]) {
        // It is evaluated every second, and a policy may have thousands of routes.
        let routes = paused.isEmpty ? [] : policy.routes.filter { $0.alternatives(without: paused) == 0 }
        count = routes.count
        let names = Set(routes.flatMap(\.providers))
        providers = paused.filter { names.contains($0.key) }
    }

    /// The providers with their error codes, such as `main (connection_refused)`, by name.
    package var causes: [String] {
        providers.sorted { $0.key < $1.key }.map { "\($0.key) (\($0.value))" }
    }
}

extension Policy {
    /// The routes of all tenants, each once.
    var routes: Set<Route> {
        var routes: Set<Route> = []
        for tenant in tenants.values {
            routes.formUnion(tenant.routes.regions.values)
            routes.formUnion([tenant.routes.fallback, tenant.routes.email, tenant.routes.push])
        }
        return routes.filter { !$0.isEmpty }
    }

    /// The number of providers that still accept messages on the route of `provider` that has the fewest.
    ///
    /// Nil for a provider that is on no route.
    package func alternatives(to provider: String, without paused: [String: String]) -> Int? {
        routes.filter { $0.providers.contains(provider) }.map { $0.alternatives(without: paused) }.min()
    }
}

extension Route {
    fileprivate func alternatives(without paused: [String: String]) -> Int {
        providers.count { paused[$0] == nil }
    }
}
