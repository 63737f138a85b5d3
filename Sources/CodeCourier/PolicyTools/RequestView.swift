// SPDX-License-Identifier: Apache-2.0

import Formats
import SettingsReading
import Verification

/// The facts that the rules check in one request, in words that identify nobody.
struct RequestView {
    let request: VerificationRequest

    /// Nil for a tenant that the policy does not have.
    let tenant: TenantPolicy?
    private let facts: NumberFacts?
    private let now: Timestamp

    init(request: VerificationRequest, policy: Policy, numbers: any NumberDirectory, now: Timestamp) {
        self.request = request
        tenant = policy.tenants[request.tenant]
        self.now = now
        if case .phone(let number) = request.recipient {
            facts = policy.numberPlan.facts(of: number) { numbers.facts(of: number) }
        } else {
            facts = nil
        }
    }

    /// The facts that a step of the screening checks.
    func saw(_ step: ScreeningStep) -> String {
        switch step {
        case .tenant: request.tenant
        case .channel: request.channel.rawValue
        case .testNumber: testNumber
        case .onlyTestNumbers: "app verification is \(tenant?.appVerification == .off ? "off" : "on")"
        case .numberPlan:
            "\(request.recipient.masked) is \(facts?.isValid == true ? "valid" : "not valid") in \(region)"
        case .region: regionRule
        case .purpose: "\(request.purpose.rawValue), which for a push has to be app_verification"
        case .actionCode: actionCode
        case .linkDomain: "\(request.actionCode?.hosts ?? "none"); authorised: \(authorizedDomains)"
        case .numberType: "\(facts?.type.rawValue ?? "none"); voip: \(tenant?.voip.rawValue ?? "")"
        case .autofill: autofill
        case .appVerification: "\(tenant?.appVerification.text ?? ""); \(shown)"
        }
    }

    static let limitNames = LimitKey.Scope.allCases.map(\.title) + ["limits per tenant"]

    /// The limits in order, and for each one true when the request counts in it.
    var limits: [(name: String, text: String, isCounted: Bool)] {
        let limits = tenant?.limits ?? LimitPolicy(perRecipient: [], perIP: [], perTenant: [])
        let scoped = LimitKey.Scope.allCases.map { scope in
            let list = limits[scope]
            guard !list.isEmpty, let missing = missingField(of: scope) else {
                return (scope.title, list.text, !list.isEmpty)
            }
            return (scope.title, "\(list.text); the request has no \(missing)", false)
        }
        return scoped + [("limits per tenant", limits.perTenant.text, !limits.perTenant.isEmpty)]
    }

    /// The field without which no limit of the scope counts the request; nil if it has that field.
    private func missingField(of scope: LimitKey.Scope) -> String? {
        switch scope {
        case .recipient: nil
        case .ip: request.client?.ip == nil ? "client.ip" : nil
        case .subject: request.subject == nil ? "subject" : nil
        case .device: request.client?.deviceID == nil ? "client.deviceId" : nil
        }
    }

    /// The brake's scopes for this request, and true when the brake may stop it.
    var brake: (text: String, isJudged: Bool) {
        guard let tenant else { return ("", false) }
        if request.recipientConfirmed { return ("never stops a confirmed recipient", false) }
        guard case .phone(let number) = request.recipient else { return ("", false) }
        if tenant.brake.allows(number, from: request.client?.ip) { return ("allowed by brake.allow", false) }
        let region = facts?.region ?? .unknown
        let trusted = tenant.brake.trusts(request.appVerification) ? "; a verified app passes range and region" : ""
        let modes = BrakeScope.allCases.map { (scope: $0, mode: tenant.brake.mode(of: $0, in: region)) }
        let text = modes.map { "\($0.scope.word) \($0.mode)" }.joined(separator: ", ")
        return (text + trusted, modes.contains { $0.mode != .off })
    }

    /// The message to send and its providers.
    var send: String {
        guard let tenant else { return "" }
        if tenant.testNumber(for: request, at: now) != nil { return "a fixed code and no message" }
        let providers = tenant.routes.route(for: request.channel, region: facts?.region ?? .unknown)
        let route = providers.isEmpty ? "no provider, since there is no route" : providers.text
        switch request.channel {
        case .sms:
            return "\(tenant.code.text); by \(route)"
        case .email:
            guard request.hasLink else { return "\(tenant.code.text); by \(route)" }
            let link = DurationText.format(tenant.emailLinks.validity)
            let life = DurationText.format(tenant.shortCodeValidity)
            let code =
                tenant.sendsShortCode
                ? "a code of \(tenant.code.length) digits for \(life)"
                : "no code, since one for \(life) would live too short"
            return "a link for \(link), and \(code); by \(route)"
        case .apns:
            return "a secret for \(DurationText.format(tenant.code.validity)); by \(route)"
        }
    }

    private var actionCode: String {
        guard let actionCode = request.actionCode else { return "none, so the e-mail has no link" }
        let scheme = actionCode.url.map { $0.isEncrypted ? "https" : "http" } ?? "no url"
        return "\(scheme), handleCodeInApp \(actionCode.handleCodeInApp ?? false)"
    }

    private var autofill: String {
        let asked = [request.autofill?.domain?.text, request.autofill?.androidAppHash].compactMap(\.self)
        let text = asked.isEmpty ? "none" : asked.joined(separator: ", ")
        return "\(text); allowed: \(tenant?.autofill?.text ?? "any")"
    }

    private var authorizedDomains: String {
        let domains = tenant?.emailLinks.authorizedDomains ?? []
        return domains.isEmpty ? "none" : domains.joined(separator: ", ")
    }

    private var region: String { facts?.region.code ?? Region.unknown.code }

    private var testNumber: String {
        guard let tenant else { return "" }
        guard let number = tenant.testNumber(for: request, at: now) else {
            return "none of \(tenant.testNumbers.count)"
        }
        return "a test number\(number.fault.map { " with the fault \($0.rawValue)" } ?? "")"
    }

    /// The number's region, with the regions that share its range.
    ///
    /// For a number of no region, the entry by which a list admits it.
    private var place: String {
        guard let facts, facts.region != .unknown else {
            let name = facts?.isValid == true ? "001, a satellite or international network" : "an unknown region"
            return "\(region) (\(name))"
        }
        let others = facts.region.indistinguishable.subtracting([facts.region]).sorted().map(\.code)
        return others.isEmpty ? region : "\(region) (or \(others.joined(separator: ", ")))"
    }

    private var regionRule: String {
        let policy = tenant?.regions(for: request.purpose).text ?? ""
        let candidates = facts?.candidates.map(\.code) ?? []
        let number = candidates.count > 1 ? "one of \(candidates.joined(separator: ", "))" : place
        return "\(number), \(request.recipientConfirmed ? "confirmed" : "not confirmed"); allowed: \(policy)"
    }

    private var shown: String {
        guard let shown = request.appVerification else { return "the request shows none" }
        let parts = [shown.method.rawValue, shown.verdict?.rawValue, shown.score.map { "\($0)" }]
        return "the request shows \(parts.compactMap(\.self).joined(separator: ", "))"
    }
}

extension LimitKey.Scope {
    /// The scope in output, such as `IP`.
    var word: String { self == .ip ? "IP" : rawValue }

    /// The name of the scope's limits, such as `limits per IP`.
    var title: String { "limits per \(word)" }
}

extension RequestActionCode {
    /// The hosts that must be authorised.
    fileprivate var hosts: String {
        [url?.host, linkDomain?.text].compactMap(\.self).joined(separator: " by ")
    }
}

extension TenantPolicy {
    fileprivate func testNumber(for request: VerificationRequest, at now: Timestamp) -> TestNumber? {
        guard case .phone(let number) = request.recipient else { return nil }
        return testNumber(number, at: now)
    }
}
