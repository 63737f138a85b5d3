// SPDX-License-Identifier: Apache-2.0

import Formats

/// The shares of adaptive routes, each as last reported, for a bounded number of providers and regions.
struct RouteTable {
    struct Row: Equatable {
        let tenant: String

        /// Empty for regions without messages of their own.
        let region: String
        let provider: String

        /// Percentages.
        let share: Double
        let conversion: Double

        /// First messages, each by its age.
        let messages: Double
    }

    static let event = "route.shares"
    private static let most = 1000

    private var shares: [[String]: Row] = [:]

    mutating func note(_ fields: JSONObject) {
        guard let provider = fields.text("provider"), let share = fields.amount("share") else { return }
        let row = Row(
            tenant: (fields.text("tenant") ?? "").cut,
            region: (fields.text("region") ?? "").cut,
            provider: provider.cut,
            share: share,
            conversion: fields.amount("conversion") ?? 0,
            messages: fields.amount("observations") ?? 0
        )
        let key = [row.tenant, row.region, row.provider]
        guard shares[key] != nil || shares.count < Self.most else { return }
        shares[key] = row
    }

    /// The rows by tenant and region, the greatest share of a region first.
    var rows: [Row] {
        shares.values.sorted {
            ($0.tenant, $0.region, $1.share, $0.provider) < ($1.tenant, $1.region, $0.share, $1.provider)
        }
    }
}
