// SPDX-License-Identifier: Apache-2.0

extension Policy {
    /// The policy as each of several databases applies it, none of which knows what the others let through.
    ///
    /// People are spread over the databases by their fingerprint, so what counts for a recipient is counted in one, and
    /// what counts for an IP address or a tenant in all of them: each has its share of those, rounded down and at least 1,
    /// so that together they let through no more than the limit, as long as it is not below their number.
    package func divided(among shards: Int) -> Policy {
        guard shards > 1 else { return self }
        return Policy(
            version: version,
            tenants: tenants.mapValues { tenant in
                var tenant = tenant
                tenant.limits.perIP = tenant.limits.perIP.map { $0.divided(among: shards) }
                tenant.limits.perTenant = tenant.limits.perTenant.map { $0.divided(among: shards) }
                return tenant
            },
            numberPlan: numberPlan
        )
    }
}

extension RateLimit {
    fileprivate func divided(among shards: Int) -> RateLimit {
        RateLimit(count: min(count, max(1, count / shards)), per: per)
    }
}
