// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// The shares that a policy's adaptive routes would have had, hour by hour, beside what was sent.
struct RouteReplay {
    struct Row: Equatable {
        let tenant: String
        let region: String
        let provider: String
        var messages = 0
        var approved = 0

        /// The messages that the shares would have given it.
        var shared = 0.0
    }

    let rows: [Row]

    /// The hours with first messages.
    let hours: Int

    /// Replays the hours from `start` on, each by the evidence of the hours before.
    init(
        _ counts: ConversionCounts,
        policy: Policy,
        since start: Timestamp,
        tenant only: String? = nil,
        region onlyRegion: String? = nil
    ) {
        var rows: [Row] = []
        var hours: Set<Timestamp> = []
        for (name, counts) in counts.byTenant.sorted(by: { $0.key < $1.key }) where only == nil || only == name {
            guard let routes = policy.tenants[name]?.routes, routes.hasAdaptive else { continue }
            var own = Replayed(tenant: name, routes: routes, prices: policy.prices, region: onlyRegion)
            own.replay(counts, since: start)
            rows += own.rows
            hours.formUnion(own.hours)
        }
        self.rows = rows
        self.hours = hours.count
    }

    /// The replay of one tenant.
    private struct Replayed {
        let tenant: String
        let routes: Routes
        let prices: PriceTable?
        let region: String?
        var hours: Set<Timestamp> = []
        private var sums: [[String]: Row] = [:]

        init(tenant: String, routes: Routes, prices: PriceTable?, region: String?) {
            self.tenant = tenant
            self.routes = routes
            self.prices = prices
            self.region = region
        }

        var rows: [Row] {
            sums.values.sorted { ($0.region, $0.provider) < ($1.region, $1.provider) }
        }

        mutating func replay(_ counts: ConversionCounts, since start: Timestamp) {
            var evidence = RouteEvidence()
            let byHour = Dictionary(grouping: counts.groups, by: \.key.hour).sorted { $0.key < $1.key }
            for (hour, groups) in byHour {
                if hour >= start { share(groups.map { ($0.key, $0.value) }, by: evidence, at: hour) }
                evidence.add(ConversionCounts(Dictionary(uniqueKeysWithValues: groups.map { ($0.key, $0.value) })))
                evidence.forget(at: hour)
            }
        }

        private mutating func share(
            _ groups: [(ConversionCounts.Group, ConversionCounts.Count)],
            by evidence: RouteEvidence,
            at hour: Timestamp
        ) {
            for (code, groups) in Dictionary(grouping: groups, by: \.0.region) where region == nil || region == code {
                guard case .adaptive(let route) = routes.route(ofRegion: code) else { continue }
                hours.insert(hour)
                for (group, count) in groups {
                    add(code, group.provider) { row in
                        row.messages += count.firsts
                        row.approved += count.firstsApproved
                    }
                }
                let all = Double(groups.reduce(0) { $0 + $1.1.firsts })
                let shares = ShareRule(route, evidence, at: hour).shares(
                    in: code,
                    prices: prices?.amounts(of: route.providers, in: Region(code)) ?? [:]
                )
                let whole = Double(shares.reduce(0) { $0 + $1.share })
                for share in shares {
                    add(code, share.provider) { $0.shared += all * Double(share.share) / whole }
                }
            }
        }

        private mutating func add(_ region: String, _ provider: String, _ change: (inout Row) -> Void) {
            change(&sums[[region, provider], default: Row(tenant: tenant, region: region, provider: provider)])
        }
    }

    static let empty =
        "nothing to replay: no first messages of that time went to a region with an adaptive route"

    var lines: [String] {
        if rows.isEmpty { return [Self.empty] }
        var table = TextTable(numbers: [3, 4, 5], indent: 0)
        table.row("tenant", "region", "provider", "sent", "approved", "by this policy")
        for row in rows {
            let conversion = row.messages == 0 ? "-" : "\(percent(row.approved, of: row.messages)) %"
            table.row(
                row.tenant,
                row.region,
                row.provider,
                row.messages.grouped,
                conversion,
                Int(row.shared.rounded()).grouped
            )
        }
        return table.lines + ["\(hours.grouped) hours with first messages"]
    }

    private func percent(_ part: Int, of whole: Int) -> String {
        RouteShareOutput.percent(Double(part) / Double(whole))
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { root in
            root.member("hours", hours)
            root.array("providers") { providers in
                for row in rows {
                    providers.object { provider in
                        provider.member("tenant", row.tenant)
                        provider.member("region", row.region)
                        provider.member("provider", row.provider)
                        provider.member("sent", row.messages)
                        provider.member("approved", row.approved)
                        provider.member("shared", row.shared)
                    }
                }
            }
        }
        return writer.bytes
    }
}
