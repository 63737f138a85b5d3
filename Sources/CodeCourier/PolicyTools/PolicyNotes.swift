// SPDX-License-Identifier: Apache-2.0

import Formats
import SettingsReading
import Verification

/// A note about a valid policy that its operator should know.
struct PolicyNote: Equatable, CustomStringConvertible {
    /// The dotted key that the note concerns.
    let key: String
    let message: String

    var description: String { "\(key): \(message)" }
}

/// Finds protections that a policy switches off, and rules with a surprising effect.
struct PolicyNotes {
    private(set) var switchedOff: [PolicyNote] = []
    private(set) var warnings: [PolicyNote] = []

    init(policy: Policy, now: Timestamp) {
        if policy.tenants["default"] == nil {
            warn("tenants.default", "none: requests that name no tenant are refused")
        }
        for (name, tenant) in policy.tenants.sorted(by: { $0.key < $1.key }) {
            let path = "tenants.\(name)"
            noteLimits(tenant.limits, path)
            noteAppVerification(tenant, path, now)
            noteRegions(tenant, path)
            noteRoutes(tenant, path)
            noteLanguage(tenant, path)
            noteTexts(tenant, path)
            noteAutofill(tenant, path)
            noteCode(tenant, path)
            noteTestNumbers(tenant, path, now)
            noteBrake(tenant.brake, path)
            noteBudgets(tenant.budgets, path)
            noteAdaptive(tenant.routes, path, policy.prices)
        }
    }

    mutating func switchOff(_ key: String, _ message: String) {
        switchedOff.append(PolicyNote(key: key, message: message))
    }

    mutating func warn(_ key: String, _ message: String) {
        warnings.append(PolicyNote(key: key, message: message))
    }

    private mutating func noteLimits(_ limits: LimitPolicy, _ path: String) {
        let defaults = LimitPolicy()
        let scopes = LimitKey.Scope.allCases.map { ($0.setting, limits[$0], defaults[$0]) }
        for (name, list, standard) in scopes + [("perTenant", limits.perTenant, defaults.perTenant)] {
            let key = "\(path).limits.\(name)"
            if list.isEmpty, !standard.isEmpty { switchOff(key, "no limit") }
            for (index, limit) in list.enumerated() {
                let stricter = list.enumerated().first { other in
                    other.offset != index && other.element.count <= limit.count && other.element.per >= limit.per
                        && (other.element != limit || other.offset < index)
                }
                guard let stricter else { continue }
                warn("\(key)[\(index)]", "never decides: \([stricter.element].text) is at least as strict")
            }
            if name != "perTenant" { noteWindow(list, key) }
        }
    }

    /// Warns about long windows: the window of a scope is one row, rewritten at each admission.
    private mutating func noteWindow(_ limits: [RateLimit], _ key: String) {
        let longest = limits.map(\.per).max() ?? .zero
        // The maximum number of admissions in the longest window, by each limit.
        let bounds = limits.map { Double($0.count) * (longest / $0.per).rounded(.up) }
        guard let most = bounds.min(), most > 10_000 else { return }
        let (count, bytes) = (Int(most).grouped, (12 * Int(most)).grouped)
        warn(key, "keeps up to \(count) admissions in one row, \(bytes) bytes that each of them writes anew")
    }

    private mutating func noteAppVerification(_ tenant: TenantPolicy, _ path: String, _ now: Timestamp) {
        guard tenant.appVerification == .off else { return }
        let key = "\(path).appVerification"
        switchOff(key, "off, so only test numbers are served")
        if !tenant.testNumbers.contains(where: { $0.isInForce(at: now) }) {
            warn(key, "off without a test number in force: every request is refused")
        }
    }

    private mutating func noteRegions(_ tenant: TenantPolicy, _ path: String) {
        let policies =
            [(key: "\(path).regions", policy: tenant.regions)]
            + Purpose.allCases.compactMap { purpose in
                tenant.purposeRegions[purpose].map { ("\(path).purposes.\(purpose.rawValue).regions", $0) }
            }
        for (key, policy) in policies {
            if case .allowlistOnly(let allowed) = policy.base, allowed.isEmpty { warn(key, "allows no region") }
            for region in policy.named.sorted() where !policy.named.contains(region.regionOfItsMobiles) {
                let others = region.indistinguishable.subtracting([region]).sorted().map(\.code).joined(separator: ", ")
                warn(key, "\(region): no mobile number tells it from \(others), so this rule counts for all of them")
            }
            if !policy.confirmedOnly.isEmpty {
                let regions = policy.confirmedOnly.sorted().map(\.code).joined(separator: ", ")
                warn(key, "\(regions): only recipients that the account has proved before")
            }
        }
    }

    private mutating func noteRoutes(_ tenant: TenantPolicy, _ path: String) {
        // If every purpose has its own rule, the tenant's rule decides nothing.
        let deciding = Purpose.allCases.map { tenant.regions(for: $0) }
        for region in tenant.routes.regions.keys.sorted() where !deciding.contains(where: { $0.lets(region) }) {
            warn("\(path).routes.regions.\(region)", "never taken: the region policy refuses \(region)")
        }
        if tenant.routes.email.isEmpty, !tenant.emailLinks.authorizedDomains.isEmpty {
            warn("\(path).routes.email", "none: e-mail links are allowed and every one fails")
        }
        if !tenant.routes.email.isEmpty, tenant.emailLinks.authorizedDomains.isEmpty {
            warn("\(path).emailLinks.authorizedDomains", "none: every e-mail with a link is refused")
        }
    }

    private mutating func noteLanguage(_ tenant: TenantPolicy, _ path: String) {
        let own = tenant.messages.regions.values.reduce(into: Set(tenant.messages.templates.keys)) { own, region in
            own.formUnion(region.templates.keys)
        }
        let known = own.union(MessageCatalog.languages)
        guard LanguageTag(tenant.defaultLanguage)?.hasText(among: known) != true else { return }
        warn("\(path).defaultLanguage", "has no text, neither built in nor of your own: English is sent")
    }

    private mutating func noteAutofill(_ tenant: TenantPolicy, _ path: String) {
        guard tenant.autofill == nil, tenant.textsMayHaveAutofill else { return }
        warn("\(path).autofill", "any domain and app hash of a request is taken; name yours")
    }

    private mutating func noteCode(_ tenant: TenantPolicy, _ path: String) {
        if tenant.code.length < 6 { warn("\(path).code.length", "is below 6 digits") }
        if tenant.code.validity > .seconds(600) { warn("\(path).code.validity", "is longer than 10m") }
        let validity = DurationText.format(tenant.code.validity)
        if tenant.resend.sameCodeWhileLeft >= tenant.code.validity {
            let key = "\(path).resend.sameCodeWhileLeft"
            warn(key, "is not below code.validity (\(validity)): every resend has a new code")
        }
        for (index, window) in tenant.resend.windows.enumerated() where window > tenant.code.validity {
            warn("\(path).resend.windows[\(index)]", "is longer than the code is valid (\(validity))")
        }
    }

    private mutating func noteTestNumbers(_ tenant: TenantPolicy, _ path: String, _ now: Timestamp) {
        for (index, number) in tenant.testNumbers.enumerated() {
            let key = "\(path).testNumbers[\(index)]"
            guard let until = number.until else {
                warn("\(key).until", "none: a code that never ends is as good as published")
                continue
            }
            guard !number.isInForce(at: now) else { continue }
            warn(key, "is past its end (\(until.rfc3339.prefix(10))): the number is an ordinary one now")
        }
    }
}

extension TestNumber {
    fileprivate func isInForce(at now: Timestamp) -> Bool { until.map { now < $0 } ?? true }
}

extension TenantPolicy {
    /// True when a text of the tenant may end in the autofill line that its request demands.
    fileprivate var textsMayHaveAutofill: Bool {
        let deciding = Purpose.allCases.map { regions(for: $0) }
        return RegionCodes.known.contains { region in
            let isAllowed = deciding.contains { $0.lets(region) }
            let isRouted = !routes.route(for: .sms, region: region).isEmpty
            // Texts for mobile numbers are looked up under the region of their numbering plan.
            return isAllowed && isRouted && messages.regions[region.regionOfItsMobiles]?.hasAutofill != false
        }
    }
}

extension RegionPolicy {
    /// The regions that the rule names.
    fileprivate var named: Set<Region> {
        switch base {
        case .allowByDefault(let disallowed): disallowed.union(confirmedOnly)
        case .allowlistOnly(let allowed): allowed.union(confirmedOnly)
        }
    }

    /// True when the rule admits a confirmed number of the region.
    fileprivate func lets(_ region: Region) -> Bool {
        let facts = NumberFacts(region: region, candidates: [region], isValid: true, type: .mobile)
        return refusal(of: facts, confirmed: true) == nil
    }
}
