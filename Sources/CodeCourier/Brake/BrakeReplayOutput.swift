// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// The result of a replay of the brake, as text for people or JSON for scripts.
struct BrakeReplayOutput {
    let report: BrakeReplayReport
    let start: Timestamp
    let end: Timestamp
    let version: String

    /// The currency of the policy's prices; nil without prices.
    let currency: String?

    /// The maximum number of a tenant's scopes in the text for people.
    private static let shown = 20

    /// The assumptions behind the numbers.
    static let assumptions = [
        "Honest people are those whose code was typed in. Whoever was refused at the time is not stored.",
        "A further message of a live verification counts with the first one.",
        "Verified apps, brake.allow and operators' orders are not stored with a verification: they exempt nobody here.",
        "Money is one segment a message, by the prices of regions and providers.",
    ]

    var lines: [String] {
        let mark = report.isInterrupted ? ", INTERRUPTED" : ""
        var lines = [
            "\(report.verifications.grouped) verifications from \(start.rfc3339) to \(end.rfc3339), "
                + "policy \(version)\(mark)"
        ]
        if let first = report.first, let last = report.last {
            lines.append("the first at \(first.rfc3339), the last at \(last.rfc3339)")
        }
        for (name, tenant) in sortedTenants { lines += section(name, tenant) }
        return lines + [""] + Self.assumptions
    }

    private var sortedTenants: [(key: String, value: BrakeReplayReport.Tenant)] {
        report.tenants.sorted { $0.key < $1.key }
    }

    private func section(_ name: String, _ tenant: BrakeReplayReport.Tenant) -> [String] {
        var sums = TextTable(numbers: [1, 2, 3, 4])
        sums.row("", "verifications", "messages", "honest", currency ?? "")
        for (title, tally) in [("all", tenant.all), ("refused", tenant.refused), ("only recorded", tenant.recorded)] {
            sums.row(
                title,
                tally.verifications.grouped,
                tally.messages.grouped,
                tally.approved.grouped,
                currency == nil ? "" : tally.cost.description
            )
        }
        var lines = ["", "tenant \(name.printable)"] + sums.lines
        if tenant.wasAsleep { lines.append("  Too few approvals at times: blocks then only recorded.") }
        return lines + [""] + scopeLines(tenant)
    }

    private func scopeLines(_ tenant: BrakeReplayReport.Tenant) -> [String] {
        let scopes = sortedScopes(tenant)
        if scopes.isEmpty { return ["  no scope would have been blocked"] }
        var table = TextTable(numbers: [5, 6, 7, 8])
        table.row("scope", "key", "region", "first blocked", "until", "blocks", "refused", "recorded", "honest")
        for (key, scope) in scopes.prefix(Self.shown) {
            table.row(
                key.scope.word,
                BrakeOverride.Scope(key.scope).text(of: key.value),
                scope.region,
                scope.blocks.first?.from.rfc3339 ?? "",
                scope.blocks.last?.until.rfc3339 ?? "",
                String(scope.blocks.count),
                scope.refused.verifications.grouped,
                scope.recorded.verifications.grouped,
                (scope.refused.approved + scope.recorded.approved).grouped
            )
        }
        let rest = scopes.count - Self.shown
        return table.lines + (rest > 0 ? ["  and \(rest.grouped) more: --json has them"] : [])
    }

    /// The scopes, those that stopped the most requests first.
    private func sortedScopes(
        _ tenant: BrakeReplayReport.Tenant
    ) -> [(key: BrakeKey, value: BrakeReplayReport.Scope)] {
        func order(_ pair: (key: BrakeKey, value: BrakeReplayReport.Scope)) -> (Int, BrakeScope, Int64) {
            (-pair.value.refused.verifications - pair.value.recorded.verifications, pair.key.scope, pair.key.value)
        }
        return tenant.scopes.sorted { order($0) < order($1) }
    }

    var json: [UInt8] {
        var writer = JSONWriter(reserving: 4096)
        writer.object { root in
            root.member("from", start.rfc3339)
            root.member("to", end.rfc3339)
            root.member("policyVersion", version)
            root.member("interrupted", report.isInterrupted)
            root.member("firstVerification", ifPresent: report.first?.rfc3339)
            root.member("lastVerification", ifPresent: report.last?.rfc3339)
            root.member("currency", ifPresent: currency)
            root.array("tenants") { list in
                for (name, tenant) in sortedTenants {
                    list.object { item in
                        item.member("tenant", name)
                        write(tenant, to: &item)
                    }
                }
            }
        }
        return writer.bytes
    }

    private func write(_ tenant: BrakeReplayReport.Tenant, to writer: inout JSONWriter) {
        write(tenant.all, as: "all", to: &writer)
        write(tenant.refused, as: "refused", to: &writer)
        write(tenant.recorded, as: "recorded", to: &writer)
        writer.member("probes", tenant.probes)
        writer.member("tooFewApprovals", tenant.wasAsleep)
        writer.array("scopes") { scopes in
            for (key, scope) in sortedScopes(tenant) {
                scopes.object { item in
                    item.member("scope", key.scope.word)
                    item.member("key", BrakeOverride.Scope(key.scope).text(of: key.value))
                    item.member("region", scope.region)
                    write(scope.refused, as: "refused", to: &item)
                    write(scope.recorded, as: "recorded", to: &item)
                    item.array("blocks") { blocks in
                        for block in scope.blocks {
                            blocks.object { item in
                                item.member("from", block.from.rfc3339)
                                item.member("until", block.until.rfc3339)
                                item.member("expected", block.shortfall.expected)
                                item.member("observed", block.shortfall.observed)
                            }
                        }
                    }
                }
            }
        }
    }

    private func write(_ tally: BrakeReplayReport.Tally, as name: StaticString, to writer: inout JSONWriter) {
        writer.object(name) { item in
            item.member("verifications", tally.verifications)
            item.member("messages", tally.messages)
            item.member("honest", tally.approved)
            if currency != nil { item.member("cost", tally.cost.description) }
        }
    }
}
