// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// The shares of adaptive routes in force, for a person or a script.
struct RouteShareOutput {
    private struct Row {
        let place: RouteShares.Place
        let share: RouteShare
        let price: Money?
        let reason: String
    }

    private let rows: [Row]
    private let currency: String

    init(shares: RouteShares, policy: Policy, tenant: String? = nil, region: String? = nil) {
        currency = policy.prices?.currency ?? ""
        let places = shares.places.filter { place, _ in
            (tenant == nil || place.tenant == tenant) && (region == nil || place.region == region)
        }
        // A tenant without observations approves too few codes.
        let known = Set(
            shares.places.filter { $0.value.contains { $0.observations > 0 } }.map(\.key.tenant)
        )
        rows = places.sorted { ($0.key.tenant, $0.key.region) < ($1.key.tenant, $1.key.region) }
            .flatMap { place, shares in
                let most = shares.map(\.share).max() ?? 0
                return shares.map { share in
                    Row(
                        place: place,
                        share: share,
                        price: policy.prices?.amount(share.provider, in: Region(place.region)),
                        reason: share.reason(most: most, of: shares, isKnown: known.contains(place.tenant))
                    )
                }
            }
    }

    static let empty =
        "no shares: the policy has no adaptive route, or its first messages are younger than 12 minutes"

    var lines: [String] {
        if rows.isEmpty { return [Self.empty] }
        var table = TextTable(numbers: [3, 4, 5, 6], indent: 0)
        table.row("tenant", "region", "provider", "share", "conversion", "messages", "price", "why")
        for row in rows {
            table.row(
                row.place.tenant,
                row.place.name,
                row.share.provider,
                "\(Self.percent(Double(row.share.share) / Double(ShareRule.whole))) %",
                "\(Self.percent(row.share.conversion)) ± \(Self.percent(row.share.deviation)) %",
                Int(row.share.observations.rounded()).grouped,
                row.price.map { "\($0) \(currency)" } ?? "none",
                row.reason
            )
        }
        return table.lines
    }

    /// A part in percent with one digit behind the point.
    static func percent(_ part: Double) -> String {
        let tenths = Int((1000 * part).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { root in
            root.array("shares") { shares in
                for row in rows {
                    shares.object { share in
                        share.member("tenant", row.place.tenant)
                        share.member("region", row.place.name)
                        share.member("provider", row.share.provider)
                        share.member("share", Double(row.share.share) / Double(ShareRule.whole))
                        share.member("conversion", row.share.conversion)
                        share.member("deviation", row.share.deviation)
                        share.member("messages", row.share.observations)
                        if let price = row.price { share.member("price", price.description) }
                        if let silence = row.share.silence { share.member("silentUntil", silence.until.rfc3339) }
                        share.member("why", row.reason)
                    }
                }
            }
        }
        return writer.bytes
    }
}

extension RouteShares.Place {
    /// The region, or * for all without messages of their own.
    var name: String { region.isEmpty ? "*" : region }
}

extension RouteShare {
    /// The reason for a share among others of its region, the highest of which is `most`.
    fileprivate func reason(most: Int, of others: [RouteShare], isKnown: Bool) -> String {
        if let silence { return "silent until \(silence.until.rfc3339): takes messages, and nobody gets them" }
        if !isKnown { return "fewer than \(ShareRule.leastApprovals) codes approved: the price alone counts" }
        if others.allSatisfy({ $0.observations < 1 }) { return "known from other regions alone" }
        if share == most { return "converts best for its price" }
        return share * 50 <= ShareRule.whole ? "worth less; this much to notice a change" : "may be the best"
    }
}
