// SPDX-License-Identifier: Apache-2.0

import Formats
import SettingsReading
import Verification

/// Notes about budgets that do not protect all of a tenant's money.
extension PolicyNotes {
    mutating func noteBudgets(_ budgets: [Budget], _ path: String) {
        for budget in budgets where budget.mode == .record {
            warn("\(path).budgets", "\(budget.name) only records: it never refuses")
        }
        for budget in budgets {
            if let channels = budget.channels, !channels.contains(.sms) {
                warn("\(path).budgets", "\(budget.name) pays for nothing: only text messages (sms) cost money")
            }
            let shared = (budget.regions ?? []).filter { !$0.indistinguishable.isSubset(of: budget.regions ?? []) }
            for region in shared.sorted() {
                let others = region.indistinguishable.subtracting([region]).sorted().map(\.code).joined(separator: ", ")
                let regions = "\(region) and \(others)"
                warn("\(path).budgets", "\(budget.name) pays for \(regions): no mobile number tells them apart")
            }
        }
        if !budgets.isEmpty, budgets.allSatisfy({ $0.regions != nil || $0.purposes != nil || $0.channels != nil }) {
            warn("\(path).budgets", "no budget pays for all messages: the rest may cost any amount")
        }
    }
}

/// Notes about adaptive routes that lack what their shares rest on.
extension PolicyNotes {
    mutating func noteAdaptive(_ routes: Routes, _ path: String, _ prices: PriceTable?) {
        guard routes.hasAdaptive else { return }
        let least = ShareRule.leastApprovals
        warn("\(path).routes", "adaptive shares need \(least) codes in 7d that check_code approves; else price counts")
        let named = routes.regions.sorted { $0.key < $1.key }.map { (region: Region?.some($0.key), route: $0.value) }
        for (region, route) in [(nil, routes.fallback)] + named {
            guard case .adaptive(let route) = route, route.costPerDoubling > 0 else { continue }
            let key = "\(path).routes.\(region.map { "regions.\($0)" } ?? "default")"
            let unpriced = route.providers.filter { prices?.amount($0, in: region) == nil }
            if unpriced.count == route.providers.count {
                warn(key, "no provider has a price: shares follow approvals alone")
            } else if !unpriced.isEmpty {
                warn(key, "without a price, \(unpriced.joined(separator: ", ")) counts as the dearest")
            }
        }
    }
}

/// Notes about a toll-fraud brake that is off, or that refuses people.
extension PolicyNotes {
    mutating func noteBrake(_ brake: BrakePolicy, _ path: String) {
        let key = "\(path).brake"
        let modes = BrakeScope.allCases.map { ($0, brake.scopes[$0] ?? brake.mode) }
        let off = modes.filter { $0.1 == .off }.map(\.0.word)
        if !off.isEmpty { switchOff(key, "off for \(off.joined(separator: ", "))") }
        for (region, mode) in brake.regions.sorted(by: { $0.key < $1.key }) where mode == .off {
            switchOff("\(key).regions.\(region)", "off")
        }
        let enforced = brake.enforcedScopes
        if enforced.isEmpty { return }
        let approvals = brake.minimumApprovals.grouped
        warn(key, "enforces only while \(approvals) codes in 24h are approved by check_code; else it records")
        if enforced.contains(where: { $0 >= .range }) {
            warn(key, "while a range or region is blocked, people need a confirmed number or a verified app")
        }
    }
}

extension BrakePolicy {
    /// The modes, such as `ip enforce, prefix enforce, range record, region record; US: off`.
    var text: String {
        let modes = BrakeScope.allCases.map { (scope: $0.word, mode: scopes[$0] ?? mode) }
        let isSame = Set(modes.map(\.mode)).count == 1
        let general = isSame ? modes[0].mode.rawValue : modes.map { "\($0.scope) \($0.mode)" }.joined(separator: ", ")
        let regional = regions.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return ([general] + regional).joined(separator: "; ")
    }

    /// The scopes that refuse in some region.
    var enforcedScopes: [BrakeScope] {
        let isRegional = regions.values.contains(.enforce)
        return BrakeScope.allCases.filter { isRegional || (scopes[$0] ?? mode) == .enforce }
    }

    /// Notes the brake's effect for a tenant with enough approvals for a verdict, or with too few.
    func text(isAsleep: Bool) -> String {
        let enforced = enforcedScopes.map(\.word).joined(separator: ", ")
        if enforced.isEmpty { return "the policy enforces nothing" }
        let least = "\(minimumApprovals.grouped) and a tenth of all"
        return isAsleep
            ? "WARNING: \(enforced) refuse nobody below \(least) approved by check_code" : "\(enforced) refuse"
    }

    /// The messages an hour that trip a scope if none is approved, where 65 % usually are.
    var evidence: String {
        let counts = BrakeScope.allCases.map { "\(messages(toTrip: $0)) of one \($0.word)" }
        let sensitivity = rules.sensitivity == 1 ? "" : "; sensitivity \(rules.sensitivity)"
        return "at about \(counts.joined(separator: ", ")) without an approval in 1h, 65 % being usual\(sensitivity)"
    }

    func messages(toTrip scope: BrakeScope) -> Int {
        let expected = max(scope.threshold.minimum, scope.threshold.need / rules.sensitivity)
        // An address may send to any region: half of its messages are expected to be approved.
        let rate = scope == .ip ? 0.5 : ApprovalRate.unknown.value
        let count = Int((expected / rate).rounded(.up))
        // A region trips only above 3 times its usual traffic and 30.
        return scope == .region ? max(count, 31) : count
    }

    var blockText: String {
        "\(DurationText.format(rules.firstBlock)), doubling to \(DurationText.format(rules.longestBlock)), then probes"
    }
}
