// SPDX-License-Identifier: Apache-2.0

import Formats
import SettingsReading
import Verification

/// Compares the rules of two versions of a tenant, in the order of the decision.
struct TenantDiff {
    let old: TenantPolicy
    let new: TenantPolicy

    typealias Change = PolicyDiff.Change

    var changes: [Change] {
        regionChanges + screeningChanges + codeChanges + limitChanges + brakeChanges + budgetChanges + routeChanges
            + messageChanges
    }

    /// The change of one value; nil if it is the same.
    private func change<Value: Equatable>(
        _ part: String,
        _ path: KeyPath<TenantPolicy, Value>,
        _ text: (Value) -> String
    ) -> Change? {
        guard old[keyPath: path] != new[keyPath: path] else { return nil }
        return Change(part: part, before: text(old[keyPath: path]), after: text(new[keyPath: path]))
    }

    // MARK: - Regions

    private var regionChanges: [Change] {
        let general = Self.changes("regions", old.regions, new.regions)
        return Purpose.allCases.reduce(into: general) { changes, purpose in
            // The purposes without a list of their own share the general rule.
            guard old.purposeRegions[purpose] ?? new.purposeRegions[purpose] != nil else { return }
            let part = "regions, \(purpose.rawValue)"
            changes += Self.changes(part, old.regions(for: purpose), new.regions(for: purpose))
        }
    }

    private static func changes(_ part: String, _ old: RegionPolicy, _ new: RegionPolicy) -> [Change] {
        var groups: [[String]: [Region]] = [:]
        for region in RegionCodes.known.sorted() + [.international, .unknown] {
            let verdicts = [old, new].map { $0.verdict(on: region) }
            if verdicts[0] != verdicts[1] { groups[verdicts, default: []].append(region) }
        }
        return groups.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map { verdicts, regions in
            Change(part: part, regions: regions, before: verdicts[0], after: verdicts[1])
        }
    }

    // MARK: - Requests and codes

    private var screeningChanges: [Change] {
        let before = Dictionary(old.testNumbers.map { ($0.number, $0) }) { first, _ in first }
        let after = Dictionary(new.testNumbers.map { ($0.number, $0) }) { first, _ in first }
        let changed = after.count { number, test in before[number].map { $0 != test } ?? false }
        let numbers =
            before == after
            ? nil
            : Change(
                part: "test numbers",
                before: String(before.count),
                after: String(after.count),
                note: """
                    \(Set(after.keys).subtracting(before.keys).count) added, \
                    \(Set(before.keys).subtracting(after.keys).count) removed, \(changed) changed
                    """
            )
        return [
            change("voip numbers", \.voip, \.rawValue), change("app verification", \.appVerification, \.text), numbers,
            change("autofill", \.autofill) { $0?.text ?? "any" },
            Change.ofList(
                "domains of e-mail links",
                old.emailLinks.authorizedDomains.sorted(),
                new.emailLinks.authorizedDomains.sorted()
            ),
        ].compactMap(\.self)
    }

    private var codeChanges: [Change] {
        [
            change("code", \.code.length) { "\($0) digits" },
            change("code", \.code.validity) { "valid for \(DurationText.format($0))" },
            change("code", \.code.maxChecks) { "\($0) wrong guesses" },
            change("e-mail links", \.emailLinks.validity) { "valid for \(DurationText.format($0))" },
            change("e-mail links", \.emailLinks.path) { "at \($0)" },
            change("resend windows", \.resend.windows) { $0.map(DurationText.format).joined(separator: ", ") },
            change("same code again", \.resend.sameCodeWhileLeft) { "while \(DurationText.format($0)) are left" },
        ].compactMap(\.self)
    }

    // MARK: - Limits

    private var limitChanges: [Change] {
        LimitKey.Scope.allCases.flatMap { Self.changes("limit per \($0.word)", old.limits[$0], new.limits[$0]) }
            + Self.changes("limit of the tenant", old.limits.perTenant, new.limits.perTenant)
    }

    private static func changes(_ part: String, _ old: [RateLimit], _ new: [RateLimit]) -> [Change] {
        Set((old + new).map(\.per)).sorted().compactMap { per in
            let before = old.filter { $0.per == per }.min { $0.count < $1.count }
            let after = new.filter { $0.per == per }.min { $0.count < $1.count }
            guard before?.count != after?.count else { return nil }
            let isStricter = (after?.count ?? .max) < (before?.count ?? .max)
            return Change(
                part: part,
                before: before.map { [$0].text },
                after: after.map { [$0].text },
                note: isStricter ? "stricter" : "looser"
            )
        }
    }

    private var brakeChanges: [Change] {
        let modes = BrakeScope.allCases.compactMap { scope in
            change("brake, \(scope.word)", \.brake) { ($0.scopes[scope] ?? $0.mode).rawValue }.flatMap {
                $0.before == $0.after ? nil : $0
            }
        }
        let (before, after) = (old.brake.regions, new.brake.regions)
        let regional = Set(before.keys).union(after.keys).sorted().filter { before[$0] != after[$0] }.map { region in
            Change(
                part: "brake",
                regions: [region],
                before: before[region]?.rawValue ?? "as elsewhere",
                after: after[region]?.rawValue ?? "as elsewhere"
            )
        }
        let values = [
            change("brake, trusted score", \.brake.trustedScore) { String($0) },
            change("brake, least approvals in a day", \.brake.minimumApprovals, \.grouped),
            change("brake, sensitivity", \.brake.rules.sensitivity) { String($0) },
            change("brake, first block", \.brake.rules.firstBlock, DurationText.format),
            change("brake, longest block", \.brake.rules.longestBlock, DurationText.format),
            Change.ofList("brake, allowed networks", old.brake.allowedNetworks, new.brake.allowedNetworks),
            Change.ofList("brake, allowed prefixes", old.brake.allowedPrefixes, new.brake.allowedPrefixes),
        ]
        return modes + regional + values.compactMap(\.self)
    }

    private var budgetChanges: [Change] {
        let names = Set((old.budgets + new.budgets).map(\.name)).sorted()
        return names.compactMap { name in
            let budgets = [old, new].map { $0.budgets.first { $0.name == name } }
            guard budgets[0] != budgets[1] else { return nil }
            return Change(part: "budget \(name)", before: budgets[0]?.text, after: budgets[1]?.text)
        }
    }

    // MARK: - Routes and messages

    private var routeChanges: [Change] {
        func text(_ route: Route) -> String { route.isEmpty ? "none" : route.text }
        let regional = Set(old.routes.regions.keys).union(new.routes.regions.keys).sorted().compactMap { region in
            let routes = [old, new].map { $0.routes.route(for: .sms, region: region) }
            return routes[0] == routes[1]
                ? nil : Change(part: "route", regions: [region], before: text(routes[0]), after: text(routes[1]))
        }
        let others = [
            change("route, other regions", \.routes.fallback, text), change("route of e-mail", \.routes.email, text),
            change("route of pushes", \.routes.push, text), change("after an opt-out", \.routes.onOptOut, \.rawValue),
        ]
        return regional + others.compactMap(\.self)
    }

    private var messageChanges: [Change] {
        let names = [
            change("app name", \.appName, \.self), change("default language", \.defaultLanguage, \.self),
        ].compactMap(\.self)
        let texts = Self.changes(old.messages.templates, new.messages.templates, of: [])
        let (before, after) = (old.messages.regions, new.messages.regions)
        let regional = Set(before.keys).union(after.keys).sorted().flatMap { region in
            Self.changes(before[region] ?? RegionMessages(), after[region] ?? RegionMessages(), of: region)
        }
        return names + texts + regional
    }

    private static func changes(_ old: RegionMessages, _ new: RegionMessages, of region: Region) -> [Change] {
        func change(_ part: String, _ before: String, _ after: String) -> Change {
            Change(part: part, regions: [region], before: before, after: after)
        }
        var changes = Self.changes(old.templates, new.templates, of: [region])
        if old.registration != new.registration {
            let isOther = old.registration != nil && new.registration != nil
            let after = isOther ? "with other ids" : new.registration == nil ? "no" : "yes"
            changes.append(change("registered text", old.registration == nil ? "no" : "yes", after))
        }
        if old.signature != new.signature {
            let texts = [old, new].map { $0.signature.isEmpty ? "none" : $0.signature }
            changes.append(change("signature", texts[0], texts[1]))
        }
        if old.hasAutofill != new.hasAutofill {
            changes.append(change("autofill", old.hasAutofill ? "yes" : "no", new.hasAutofill ? "yes" : "no"))
        }
        return changes
    }

    private static func changes(
        _ old: [String: MessageTemplate],
        _ new: [String: MessageTemplate],
        of regions: [Region]
    ) -> [Change] {
        Set(old.keys).union(new.keys).sorted().filter { old[$0] != new[$0] }.map { language in
            let texts = [old, new].map { $0[language]?.text { "{\($0.rawValue)}" } ?? "built-in" }
            return Change(part: "text in \(language)", regions: regions, before: texts[0], after: texts[1])
        }
    }
}

extension RegionPolicy {
    /// The decision on messages to numbers of one region, in words.
    fileprivate func verdict(on region: Region) -> String {
        let isBeyond = [.international, .unknown].contains(region)
        let facts = NumberFacts(
            region: isBeyond ? .unknown : region,
            candidates: isBeyond ? [] : [region],
            isValid: region != .unknown,
            type: .mobile
        )
        if refusal(of: facts, confirmed: false) == nil { return "allowed" }
        return refusal(of: facts, confirmed: true) == nil ? "only confirmed recipients" : "refused"
    }
}
