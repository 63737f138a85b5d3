// SPDX-License-Identifier: Apache-2.0

// The rules that only e-mail links or silent pushes have.
extension Screener {
    /// An action code that a link can be made of, or none, for a code alone; what Firebase Authentication asks of one.
    ///
    /// The link is opened in the app or on its page, never by this program, so `handleCodeInApp` must say so. What is
    /// not encrypted may only lead to the developer's own machine.
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

    /// Both the link and what it leads on to are on domains that the tenant has authorised.
    ///
    /// A domain does not speak for its subdomains: whoever can have one made at a hosting company could have links sent
    /// there in the tenant's name.
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

    /// A silent push proves that an app is genuine and nothing about a person.
    static let pushPurpose: Rule = { request, _, _ in
        guard request.purpose != .appVerification else { return .passes }
        return .refuses(Refusal(.invalidRequest, rule: "shape.purpose", field: "purpose"))
    }
}
