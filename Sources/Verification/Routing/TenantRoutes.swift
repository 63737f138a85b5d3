// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The adaptive routes of all tenants, as the fleet's reader feeds and judges them.
package struct TenantRoutes: Sendable {
    /// The result of one judgement.
    package struct Judgement: Sendable, Equatable {
        /// The shares of all places; nil if they are much as the stored ones.
        package var shares: RouteShares?
        package var silences: [TenantSilence] = []

        /// The shares to report: those that have changed by ten points and more, and those not reported for an hour.
        package var reports: [Report] = []
    }

    /// A place with its shares.
    package struct Report: Sendable, Equatable {
        package let place: RouteShares.Place
        package let shares: [RouteShare]
    }

    /// A provider of a tenant that has become silent, or delivers again.
    package struct TenantSilence: Sendable, Equatable {
        package let tenant: String
        package let change: SilentRoutes.Change
    }

    /// The change of a share that is reported at once, of 10,000.
    private static let reportedChange = 1000

    /// The time after which shares are reported again.
    package static let reportInterval = Duration.seconds(3600)

    /// The most places that one judgement reports: the others follow with the next ones.
    static let mostReports = 20

    /// The shares of a place as they were last reported.
    private struct Reported {
        var shares: [String: Int]
        var at = Timestamp(microseconds: .min)
    }

    private var routes: [String: Routes] = [:]
    private var prices: PriceTable?
    private var evidence: [String: RouteEvidence] = [:]
    private var silent: [String: SilentRoutes] = [:]
    private var stored: RouteShares
    private var reported: [RouteShares.Place: Reported] = [:]

    /// True once the stored counts are known.
    package private(set) var isLearned = false

    /// Continues with the stored shares and their silences.
    package init(_ stored: RouteShares = RouteShares()) {
        self.stored = stored
        for (place, shares) in stored.places {
            reported[place] = Reported(shares: Self.parts(shares))
            for share in shares {
                guard let silence = share.silence else { continue }
                let own = SilentRoutes.Place(region: place.region, provider: share.provider)
                silent[place.tenant, default: SilentRoutes()].continue(silence, of: own)
            }
        }
    }

    package var isEmpty: Bool { routes.isEmpty }

    /// Takes over the policy in force; a tenant without an adaptive route keeps no evidence.
    package mutating func follow(_ policy: Policy) {
        routes = policy.tenants.mapValues(\.routes).filter { $0.value.hasAdaptive }
        prices = policy.prices
        evidence = evidence.filter { routes[$0.key] != nil }
        silent = silent.filter { routes[$0.key] != nil }
        if routes.isEmpty { isLearned = false }
    }

    /// Takes all counts that are stored, by tenant.
    package mutating func learn(_ counts: ConversionCounts) {
        evidence = [:]
        isLearned = true
        add(counts)
    }

    /// Takes counts as they are stored.
    package mutating func add(_ counts: ConversionCounts) {
        guard isLearned else { return }
        for (tenant, counts) in counts.byTenant where routes[tenant] != nil {
            evidence[tenant, default: RouteEvidence()].add(counts)
        }
    }

    /// Takes verifications at an age.
    package mutating func read(_ samples: [String: [ConversionSample]], age: Int?, by brakes: TenantBrakes) {
        for (tenant, samples) in samples where routes[tenant] != nil {
            let history = brakes.history(of: tenant)
            for sample in samples {
                let isExplained = brakes.isExplained(sample, of: tenant)
                silent[tenant, default: SilentRoutes()]
                    .read(sample, age: age, isExplained: isExplained, by: history)
            }
        }
    }

    /// Judges providers, and shares messages anew if that is due or a provider has become silent or recovered.
    package mutating func judge(at now: Timestamp, by brakes: TenantBrakes, isDue: Bool = true) -> Judgement {
        var judgement = Judgement()
        for (tenant, routes) in routes {
            let history = brakes.history(of: tenant)
            let changes = silent[tenant, default: SilentRoutes()].judge(at: now, by: history) { place in
                guard case .adaptive(let route) = routes.route(ofRegion: place.region) else { return false }
                return route.providers.contains(place.provider) && route.providers.count > 1
            }
            judgement.silences += changes.map { TenantSilence(tenant: tenant, change: $0) }
        }
        guard isDue || !judgement.silences.isEmpty else { return judgement }
        var places: [RouteShares.Place: [RouteShare]] = [:]
        for (tenant, routes) in routes {
            evidence[tenant, default: RouteEvidence()].forget(at: now)
            for (region, shares) in shares(of: tenant, routes, at: now) {
                places[RouteShares.Place(tenant: tenant, region: region)] = shares
            }
        }
        let new = RouteShares(places)
        judgement.reports = reports(of: new, at: now)
        if !new.isNear(stored) { judgement.shares = new }
        return judgement
    }

    /// Notes that shares are stored.
    package mutating func noteStored(_ shares: RouteShares) {
        stored = shares
    }

    private func shares(of tenant: String, _ routes: Routes, at now: Timestamp) -> [String: [RouteShare]] {
        let evidence = evidence[tenant] ?? RouteEvidence()
        let silent = silent[tenant] ?? SilentRoutes()
        var rules: [AdaptiveRoute: ShareRule] = [:]
        var shares: [String: [RouteShare]] = [:]
        let named = routes.regions.keys.map(\.code)
        let silentRegions = silent.silences.keys.map(\.region)
        for region in evidence.regions.union(named).union(silentRegions).union([""]) {
            guard case .adaptive(let route) = routes.route(ofRegion: region) else { continue }
            let rule = rules[route] ?? ShareRule(route, evidence, at: now)
            rules[route] = rule
            shares[region] = rule.shares(
                in: region.isEmpty ? nil : region,
                prices: prices?.amounts(of: route.providers, in: Region(region)) ?? [:],
                silent: silent.silent(in: region, at: now)
            )
        }
        return shares
    }

    /// The silences in force, by tenant.
    package func silences(at now: Timestamp) -> [String: [SilentRoutes.Place: SilentRoutes.Silence]] {
        silent.mapValues { $0.silences.filter { now < $0.value.until } }
    }

    private mutating func reports(of new: RouteShares, at now: Timestamp) -> [Report] {
        let due = new.places.filter { place, shares in
            if hasMoved(shares, at: place) { return true }
            let isOld = reported[place].map { $0.at < now - Self.reportInterval } ?? true
            return isOld && shares.contains { $0.observations >= 1 }
        }
        let order = due.keys.sorted { one, other in
            let times = [one, other].map { reported[$0]?.at ?? Timestamp(microseconds: .min) }
            return (times[0], one.tenant, one.region) < (times[1], other.tenant, other.region)
        }
        return order.prefix(Self.mostReports).map { place in
            let shares = new.places[place] ?? []
            reported[place] = Reported(shares: Self.parts(shares), at: now)
            return Report(place: place, shares: shares)
        }
    }

    private func hasMoved(_ shares: [RouteShare], at place: RouteShares.Place) -> Bool {
        let before = reported[place]?.shares ?? [:]
        return shares.contains { share in
            abs(share.share - (before[share.provider] ?? ShareRule.whole / shares.count)) >= Self.reportedChange
        }
    }

    private static func parts(_ shares: [RouteShare]) -> [String: Int] {
        Dictionary(shares.map { ($0.provider, $0.share) }) { first, _ in first }
    }
}

extension Routes {
    /// True if some text messages are shared adaptively.
    package var hasAdaptive: Bool {
        ([fallback] + regions.values).contains {
            if case .adaptive = $0 { true } else { false }
        }
    }

    /// The route of text messages to a region by its code; empty for regions without a route of their own.
    package func route(ofRegion code: String) -> Route {
        code.isEmpty ? fallback : Region(code).map { route(for: .sms, region: $0) } ?? fallback
    }
}

extension PriceTable {
    /// The prices of providers for numbers of a region, those of single prefixes left out.
    package func amounts(of providers: [String], in region: Region?) -> [String: Money] {
        providers.reduce(into: [:]) { amounts, provider in
            amounts[provider] = amount(provider, in: region)
        }
    }
}
