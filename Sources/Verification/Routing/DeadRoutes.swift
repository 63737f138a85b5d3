// SPDX-License-Identifier: Apache-2.0

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
