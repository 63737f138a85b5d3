// SPDX-License-Identifier: Apache-2.0

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
