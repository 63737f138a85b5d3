// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// Previews the messages of a tenant, with a made-up code.
struct MessagePreview {
    let tenant: TenantPolicy
    let region: Region
    let languages: [String]

    /// The app's name in the request.
    let appName: String
    let domain: String
    let codeLength: Int

    /// True when e-mails contain a link.
    var hasLink = true

    private var code: VerificationCode { VerificationCode(fixed: String("1234567890".prefix(codeLength))) }

    /// A row for each language and last line, and true when every text fits one segment.
    func textMessages() -> (lines: [String], isCheap: Bool) {
        var table = TextTable(numbers: [4, 5], indent: 0)
        table.row("language", "variant", "form", "alphabet", "units", "segments", "text")
        var isCheap = true
        for language in languages {
            for variant in variants {
                let message = text(language, variant)
                let encoding = TextEncoding(message.text)
                if encoding.segments > 1 { isCheap = false }
                table.row(
                    message.language,
                    variant.rawValue,
                    message.form.rawValue,
                    encoding.alphabet.rawValue,
                    String(encoding.units),
                    String(encoding.segments),
                    message.text.map { $0.isNewline ? "⏎" : String($0) }.joined()
                )
            }
        }
        return (table.lines, isCheap)
    }

    private var variants: [MessageVariant] {
        tenant.messages.regions[region]?.hasAutofill == false ? [.plain] : MessageVariant.allCases
    }

    private func text(_ language: String, _ variant: MessageVariant) -> MessageText {
        let rendering = Rendering(
            language: language,
            appName: appName,
            domain: variant == .domain ? domain : nil,
            androidAppHash: variant == .androidApp ? MessageVariant.sampleHash : nil
        )
        return tenant.messages.text(
            rendering,
            region: region,
            code: code,
            validity: tenant.code.validity,
            appName: tenant.appName,
            language: tenant.defaultLanguage
        )
    }

    /// The link that a request with a page of this domain gets, with a token that opens nothing.
    private func link(_ language: String) -> String? {
        let verification = VerificationID(UUIDValue(0))
        let key = CodeKeys.throwAway().code.active
        return RequestActionCode(json: #"{"url":"https://\#(domain)/welcome"}"#).flatMap { actionCode in
            ActionLink(
                token: DerivedSecret(.link, verification: verification, generation: 1, key: key),
                verification: verification,
                tenant: "default",
                purpose: .signIn,
                language: language,
                actionCode: actionCode,
                path: tenant.emailLinks.path
            )?.url
        }
    }

    /// The subject and the parts in each language; the code is included only when it lives long enough.
    func emails() -> [(subject: String, text: String, html: String)] {
        languages.map { language in
            EmailTemplate.message(
                language: language,
                defaultLanguage: tenant.defaultLanguage,
                appName: appName,
                link: hasLink ? link(language) : nil,
                code: tenant.sendsShortCode || !hasLink ? code : nil,
                linkMinutes: tenant.emailLinks.validity.shownMinutes,
                codeMinutes: (hasLink ? tenant.shortCodeValidity : tenant.code.validity).shownMinutes
            )
        }
    }

    /// The subjects and text parts.
    func emailLines() -> [String] {
        emails().map { "Subject: \($0.subject)\n\n\($0.text)" }
    }
}

extension TenantPolicy {
    /// True when an e-mail contains a code beside its link.
    ///
    /// The comparison is strict, since some time always passes after the code was made.
    var sendsShortCode: Bool { shortCodeValidity > ClaimedSend.shortestCodeLife }
}
