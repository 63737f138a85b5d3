// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import PhoneNumbers
import SettingsReading
import Verification

/// Summarizes a policy for its operator, in the order of the decision.
struct PolicySummary {
    let policy: Policy

    /// The time at which the expiry of test numbers is checked.
    let now: Timestamp

    /// The money leased from its budgets; nil if the database is not read.
    var leased: [LeasedBudget]?

    /// The conversions of its tenants; nil if the database is not read.
    var days: [String: ConversionHistory]?

    /// The lines of the summary, for a file with this name.
    func lines(file: String) -> [String] {
        var lines = ["\(file): version \(policy.version), no faults"]
        let corrections = policy.numberPlan.overrides.count
        lines.append("numbering plans of \(PhoneNumberDirectory.release); \(corrections) corrections")
        for (name, tenant) in policy.tenants.sorted(by: { $0.key < $1.key }) {
            lines += ["", "tenant \(name)"] + table(tenant).lines
            lines += section("tenant \(name): what an attack takes before it is stopped", attackCost(tenant).lines)
        }
        let notes = PolicyNotes(policy: policy, now: now)
        lines += section("switched off", notes.switchedOff)
        lines += section("worth knowing", notes.warnings)
        if let days { lines += section("brakes, by the codes approved in 24h", table(days).lines) }
        if let leased { lines += section("leased of the budgets", leased.isEmpty ? ["  none"] : table(leased).lines) }
        return lines
    }

    private func section(_ title: String, _ notes: [PolicyNote]) -> [String] {
        section(title, notes.map { "  \($0)" })
    }

    private func section(_ title: String, _ lines: [String]) -> [String] {
        lines.isEmpty ? [] : ["", title] + lines
    }

    private func attackCost(_ tenant: TenantPolicy) -> TextTable {
        AttackCost(tenant: tenant, prices: policy.prices).table
    }

    private func table(_ days: [String: ConversionHistory]) -> TextTable {
        var table = TextTable(numbers: [1, 2])
        table.row("tenant", "verifications", "approved", "")
        for (name, tenant) in policy.tenants.sorted(by: { $0.key < $1.key }) {
            let day = days[name] ?? ConversionHistory()
            table.row(
                name,
                day.verificationsOfDay.grouped,
                day.approvalsOfDay.grouped,
                tenant.brake.text(isAsleep: day.isAsleep(below: tenant.brake.minimumApprovals))
            )
        }
        return table
    }

    private func table(_ leased: [LeasedBudget]) -> TextTable {
        var table = TextTable(numbers: [2, 3])
        table.row("tenant", "budget", "amount", "leased", "")
        for budget in leased {
            let isOver = budget.overshoot > .zero
            table.row(
                budget.key.tenant,
                budget.key.name,
                "\(budget.amount)",
                "\(budget.leased)",
                isOver ? "the window may cost up to \(budget.overshoot) more than the amount" : ""
            )
        }
        return table
    }

    private func table(_ tenant: TenantPolicy) -> TextTable {
        var table = TextTable()
        table.row("regions", tenant.regions.text)
        for purpose in Purpose.allCases {
            if let regions = tenant.purposeRegions[purpose] { table.row("regions, \(purpose.rawValue)", regions.text) }
        }
        table.row("number types", "mobile; voip: \(tenant.voip.rawValue)")
        if let autofill = tenant.autofill { table.row("autofill", autofill.text) }
        table.row("app verification", tenant.appVerification.text)
        table.row("test numbers", String(tenant.testNumbers.count))
        table.row("code", tenant.code.text)
        table.row("resend", tenant.resend.text)
        for scope in LimitKey.Scope.allCases { table.row(scope.title, tenant.limits[scope].text) }
        table.row("limits per tenant", tenant.limits.perTenant.text)
        table.row("brake", tenant.brake.text)
        table.row("brake trips", tenant.brake.evidence)
        table.row("brake blocks", tenant.brake.blockText)
        if tenant.budgets.isEmpty { table.row("budgets", "none: an attack may cost any amount") }
        for budget in tenant.budgets { table.row("budget \(budget.name)", budget.text) }
        table.row("routes", tenant.routes.text)
        if tenant.messages != MessagePolicy() { table.row("messages", tenant.messages.text) }
        return table
    }
}

extension RegionPolicy {
    /// The text of a region rule, such as `only DE, US; only confirmed recipients in IN`.
    var text: String {
        let rule =
            switch base {
            case .allowByDefault(let disallowed):
                (disallowed.isEmpty ? "all" : "all but \(disallowed.text)")
                    + (allowedBeyondRegions.isEmpty ? "" : " and \(allowedBeyondRegions.text)")
            case .allowlistOnly(let allowed): allowed.isEmpty ? "none" : "only \(allowed.text)"
            }
        return confirmedOnly.isEmpty ? rule : "\(rule); only confirmed recipients in \(confirmedOnly.text)"
    }
}

extension Set<Region> {
    fileprivate var text: String { sorted().map(\.code).joined(separator: ", ") }
}

extension AutofillPolicy {
    /// The text of autofill targets, such as `example.com, FA+9qCX9VSu`.
    var text: String {
        let allowed = domains + androidAppHashes
        return allowed.isEmpty ? "none" : allowed.joined(separator: ", ")
    }
}

extension AppVerificationPolicy {
    var text: String {
        switch self {
        case .off: "off: only test numbers are served"
        case .on(let isRequired, let minimumScore):
            "\(isRequired ? "required" : "not required"), minimum score \(minimumScore)"
        }
    }
}

extension CodePolicy {
    var text: String { "\(length) digits, valid \(DurationText.format(validity)), \(maxChecks) wrong guesses" }
}

extension ResendPolicy {
    var text: String {
        let windows = windows.map(DurationText.format).joined(separator: ", ")
        let same = DurationText.format(sameCodeWhileLeft)
        return "windows \(windows); \(maxSends) sends in all; the same code while \(same) are left"
    }
}

extension [RateLimit] {
    /// The text of limits, such as `2 in 10s, 10 in 1h`.
    var text: String {
        isEmpty ? "off" : map { "\($0.count) in \(DurationText.format($0.per))" }.joined(separator: ", ")
    }
}

extension MessagePolicy {
    /// The text of message settings, such as `own in de; CN: signature; IN: own in en, registered`.
    var text: String {
        let regional = regions.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.text)" }
        return ((templates.isEmpty ? [] : [templates.text]) + regional).joined(separator: "; ")
    }
}

extension RegionMessages {
    fileprivate var text: String {
        var parts = templates.isEmpty ? [] : [templates.text]
        if registration != nil { parts.append("registered") }
        if !signature.isEmpty { parts.append("signature") }
        if !hasAutofill { parts.append("no autofill") }
        return parts.isEmpty ? "built-in" : parts.joined(separator: ", ")
    }
}

extension [String: MessageTemplate] {
    fileprivate var text: String { "own in \(keys.sorted().joined(separator: ", "))" }
}

extension Routes {
    var text: String {
        let regional = regions.sorted { $0.key < $1.key }.map { ("\($0.key): ", $0.value) }
        let routes = [("", fallback)] + regional + [("email: ", email), ("apns: ", push)]
        return routes.filter { !$0.1.isEmpty }.map { $0.0 + $0.1.text }.joined(separator: "; ")
    }
}

extension Route {
    /// The text of a route, such as `main, then backup`, `main 70, backup 30` or `adaptive main, backup`.
    var text: String {
        switch self {
        case .ordered(let names): names.joined(separator: ", then ")
        case .weighted(let shares): shares.map { "\($0.provider) \($0.weight)" }.joined(separator: ", ")
        case .adaptive(let route): route.text
        }
    }
}

extension AdaptiveRoute {
    /// The text of the route, such as `adaptive main, backup (2x the price for 5 points, floor 1 %, half-life 6h)`.
    fileprivate var text: String {
        let points = (1000 * costPerDoubling).rounded() / 10
        let worth = points == points.rounded() ? "\(Int(points))" : "\(points)"
        let rules = "2x the price for \(worth) points, floor \(floor) %, half-life \(DurationText.format(halfLife))"
        return "adaptive \(providers.joined(separator: ", ")) (\(rules))"
    }
}
