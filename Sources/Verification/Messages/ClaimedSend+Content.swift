// SPDX-License-Identifier: Apache-2.0

extension ClaimedSend {
    /// The minimum remaining validity at which a code beside a link is included.
    ///
    /// A code that expires before the mail is read is useless, and the link still works.
    package static let shortestCodeLife = Duration.seconds(60)

    /// The content to hand to a provider, by the tenant's current rules; nil if the parts do not form a message.
    ///
    /// Without a tenant, which a new policy may have removed, the built-in texts are sent. `elapsed` is the time since
    /// the claim.
    package func content(tenant: TenantPolicy?, elapsed: Duration) -> MessageContent? {
        switch (recipient, credential) {
        case (.phone(let number), .code(let code)): .sms(text(to: number, code, tenant, elapsed))
        case (.email(let address), .link(_, let code)): email(to: address, code, tenant, elapsed).map { .email($0) }
        case (.device(let device), .push(let secret)):
            .push(PushMessage(device: device, receipt: reference.verificationID.description, secret: secret.text))
        case (.phone, _), (.email, _), (.device, _): nil
        }
    }

    /// The credential's remaining validity, at least one second.
    package func validity(after elapsed: Duration) -> Duration {
        max(.seconds(1), validityLeft - elapsed)
    }

    private func text(
        to number: PhoneNumber,
        _ code: VerificationCode,
        _ tenant: TenantPolicy?,
        _ elapsed: Duration
    ) -> TextMessage {
        let text = (tenant?.messages ?? MessagePolicy()).text(
            rendering,
            region: region ?? .unknown,
            code: code,
            validity: validity(after: elapsed),
            appName: tenant?.appName ?? rendering.appName,
            language: tenant?.defaultLanguage ?? rendering.language
        )
        return TextMessage(recipient: number, text: text.text, code: code.digits, registration: text.registration)
    }

    private func email(
        to address: EmailAddress,
        _ code: VerificationCode,
        _ tenant: TenantPolicy?,
        _ elapsed: Duration
    ) -> EmailMessage? {
        let link = link(at: tenant?.emailLinks.path ?? EmailLinkPolicy.defaultPath)
        guard link != nil || actionCode == nil else { return nil }
        let codeLeft = (shortCodeLeft ?? .zero) - elapsed
        let isCodeOfUse = codeLeft >= Self.shortestCodeLife
        let message = EmailTemplate.message(
            language: rendering.language,
            defaultLanguage: tenant?.defaultLanguage ?? "en",
            appName: rendering.appName,
            link: link?.url,
            code: isCodeOfUse || link == nil ? code : nil,
            linkMinutes: validity(after: elapsed).shownMinutes,
            codeMinutes: max(codeLeft, Self.shortestCodeLife).shownMinutes
        )
        return EmailMessage(
            recipient: address,
            subject: message.subject,
            text: message.text,
            html: message.html,
            senderName: rendering.appName
        )
    }
}
