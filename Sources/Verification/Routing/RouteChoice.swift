// SPDX-License-Identifier: Apache-2.0

/// The order in which the providers of a route are asked for one send.
package enum RouteChoice {
    /// Below these points a provider is no better choice than the one that sent the message before.
    static let healthyPoints = 50

    /// Orders the providers of a route.
    ///
    /// An ordered route keeps its order; a weighted one draws without putting back, by weight × points. On a resend the
    /// providers in `used` come behind a healthy one that is not: the person asks again because the first message did
    /// not reach them. Providers that are paused come last, since a pause may end before their turn.
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
            // Without any points left the policy's order holds.
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
