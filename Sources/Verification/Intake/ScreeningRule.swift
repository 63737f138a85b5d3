// SPDX-License-Identifier: Apache-2.0

import Formats

/// The verdict of one stateless rule.
package enum RuleVerdict: Sendable, Equatable {
    case passes

    /// The request passes; the note names the rule and what it found.
    case isNoted(String)
    case refuses(Refusal)
}

/// The steps of a screening in the order of the decision, by the names that `policy explain` prints.
package enum ScreeningStep: String, Sendable, CaseIterable {
    case tenant
    case channel

    /// Never refuses: a test number skips the steps that follow.
    case testNumber = "test number"
    case numberPlan = "number"
    case purpose
    case actionCode = "action code"
    case onlyTestNumbers = "test numbers only"
    case region
    case numberType = "number type"
    case autofill
    case linkDomain = "link domain"
    case appVerification = "app verification"
}

extension Screener {
    /// A rule; the facts are those of a phone number, nil on the other channels.
    typealias Rule = @Sendable (VerificationRequest, NumberFacts?, TenantPolicy) -> RuleVerdict

    struct NamedRule: Sendable {
        let step: ScreeningStep
        let apply: Rule
    }

    /// The rules of a channel for ordinary recipients, in the order of the decision.
    ///
    /// A silent push is itself an app verification, so it needs no other one.
    static func rules(for channel: Channel) -> [NamedRule] {
        switch channel {
        case .sms: phoneRules
        case .email: emailRules
        case .apns: pushRules
        }
    }

    /// The steps of a channel's rules, in the order of the decision.
    ///
    /// Exactly the rules before `onlyTestNumbers` are checked before a request's id is looked up.
    package static func steps(of channel: Channel) -> [ScreeningStep] { rules(for: channel).map(\.step) }

    private static let phoneRules = [
        NamedRule(step: .numberPlan, apply: numberPlan),
        NamedRule(step: .onlyTestNumbers, apply: onlyTestNumbers),
        NamedRule(step: .region, apply: region),
        NamedRule(step: .numberType, apply: numberType),
        NamedRule(step: .autofill, apply: autofill),
        NamedRule(step: .appVerification, apply: appVerification),
    ]

    private static let emailRules = [
        NamedRule(step: .actionCode, apply: actionCode),
        NamedRule(step: .onlyTestNumbers, apply: onlyTestNumbers),
        NamedRule(step: .linkDomain, apply: linkDomain),
        NamedRule(step: .appVerification, apply: appVerification),
    ]

    private static let pushRules = [
        NamedRule(step: .purpose, apply: pushPurpose),
        NamedRule(step: .onlyTestNumbers, apply: onlyTestNumbers),
    ]

    private static let onlyTestNumbers: Rule = { _, facts, tenant in
        guard tenant.appVerification == .off else { return .passes }
        return .refuses(Refusal(.testNumberOnly, rule: "test_numbers", region: facts?.region))
    }

    private static let numberPlan: Rule = { _, facts, _ in
        guard let facts, !facts.isValid else { return .passes }
        let rule = "number.plan\(facts.table.suffix)"
        return .refuses(
            Refusal(.invalidPhoneNumber, rule: rule, field: "recipient.phoneNumber", region: facts.region)
        )
    }

    private static let region: Rule = { request, facts, tenant in
        let policy = tenant.regions(for: request.purpose)
        guard let facts, let refusal = policy.refusal(of: facts, confirmed: request.recipientConfirmed) else {
            return .passes
        }
        return .refuses(Refusal(refusal.reason, rule: refusal.rule, region: facts.region))
    }

    private static let numberType: Rule = { _, facts, tenant in
        guard let facts else { return .passes }
        var rule: String { "numberTypes.\(facts.type.rawValue)\(facts.table.suffix)" }
        switch (facts.type, tenant.voip) {
        case (.mobile, _), (.fixedLineOrMobile, _), (.voip, .allow): return .passes
        case (.voip, .record): return .isNoted(rule)
        default: return .refuses(Refusal(.numberTypeNotAllowed, rule: rule, region: facts.region))
        }
    }

    /// Requires that the autofill domain and app hash belong to the tenant, if the tenant lists its own.
    ///
    /// A phone offers the code to that site, and hands the whole text to that app.
    private static let autofill: Rule = { request, facts, tenant in
        guard let asked = request.autofill, let allowed = tenant.autofill else { return .passes }
        func refuse(_ member: String) -> RuleVerdict {
            let field = "autofill.\(member)"
            return .refuses(Refusal(.unauthorizedDomain, rule: field, field: field, region: facts?.region))
        }
        if let domain = asked.domain, !allowed.domains.contains(domain.text) { return refuse("domain") }
        if let hash = asked.androidAppHash, !allowed.androidAppHashes.contains(hash) { return refuse("androidAppHash") }
        return .passes
    }

    private static let appVerification: Rule = { request, facts, tenant in
        guard case .on(let isRequired, let minimumScore) = tenant.appVerification else { return .passes }
        func refuse(_ reason: RejectionReason, _ rule: String) -> RuleVerdict {
            .refuses(Refusal(reason, rule: "appVerification.\(rule)", region: facts?.region))
        }
        // A failed verdict or a low score refuses even if no verdict is required; a score may come without a verdict.
        let shown = request.appVerification
        if shown?.verdict == .fail { return refuse(.appVerificationFailed, "verdict") }
        if let score = shown?.score, score < minimumScore { return refuse(.appVerificationFailed, "minimumScore") }
        let isShown = shown?.verdict == .pass && shown?.method != .notVerified
        return isShown || !isRequired ? .passes : refuse(.appVerificationRequired, "required")
    }
}

extension NumberFacts.Table {
    /// The suffix of the rule's name, so that an event shows which table to correct.
    fileprivate var suffix: String {
        switch self {
        case .metadata: ""
        case .policy: ".override"
        }
    }
}

// The rules that apply only to e-mail links or silent pushes.
extension Screener {
    /// Checks the action code of an e-mail link, by Firebase Authentication's rules; an e-mail with a code alone has
    /// none.
    ///
    /// The link is opened in the app or on its page, never by this program, so `handleCodeInApp` must be true. An
    /// unencrypted URL may only lead to the developer's own machine.
    static let actionCode: Rule = { request, _, _ in
        guard let actionCode = request.actionCode, let field = fault(of: actionCode) else { return .passes }
        return .refuses(Refusal(.invalidRequest, rule: "shape.\(field)", field: field))
    }

    private static func fault(of actionCode: RequestActionCode) -> String? {
        guard let url = actionCode.url, url.isEncrypted || url.isLocal else { return "actionCode.url" }
        guard actionCode.handleCodeInApp == true else { return "actionCode.handleCodeInApp" }
        let needsPackage = actionCode.androidInstallApp == true || actionCode.androidMinimumVersion != nil
        guard actionCode.androidPackageName != nil || !needsPackage else { return "actionCode.androidPackageName" }
        return nil
    }

    /// Requires that the link and its target are on domains that the tenant has authorised.
    ///
    /// An authorised domain does not include its subdomains: anyone who gets a subdomain at a hosting company could
    /// have links sent there in the tenant's name.
    static let linkDomain: Rule = { request, _, tenant in
        guard let actionCode = request.actionCode else { return .passes }
        let authorized = tenant.emailLinks.authorizedDomains
        func refuse(_ field: String) -> RuleVerdict {
            .refuses(Refusal(.unauthorizedDomain, rule: "email_link.domain", field: "actionCode.\(field)"))
        }
        guard let host = actionCode.url?.host, authorized.contains(host) else { return refuse("url") }
        if let domain = actionCode.linkDomain, !authorized.contains(domain.text) {
            return refuse("linkDomain")
        }
        return .passes
    }

    /// Requires the purpose of app verification: a silent push proves that an app is genuine, and nothing about a
    /// person.
    static let pushPurpose: Rule = { request, _, _ in
        guard request.purpose != .appVerification else { return .passes }
        return .refuses(Refusal(.invalidRequest, rule: "shape.purpose", field: "purpose"))
    }
}
