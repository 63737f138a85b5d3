// SPDX-License-Identifier: Apache-2.0

import Formats

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
