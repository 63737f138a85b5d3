// SPDX-License-Identifier: Apache-2.0

/// The operator's rules, as one version of the policy file states them.
package struct Policy: Sendable, Equatable {
    /// The version that every event names.
    package let version: String
    package let tenants: [String: TenantPolicy]

    /// The operator's corrections to the numbering plans, for every tenant.
    package let numberPlan: NumberPlan

    package init(version: String, tenants: [String: TenantPolicy], numberPlan: NumberPlan = NumberPlan()) {
        self.version = version
        self.tenants = tenants
        self.numberPlan = numberPlan
    }
}

/// The rules of one tenant.
package struct TenantPolicy: Sendable, Equatable {
    package var appName: String
    package var defaultLanguage: String
    package var regions: RegionPolicy

    /// The purposes whose region rule replaces `regions`.
    package var purposeRegions: [Purpose: RegionPolicy]
    package var code: CodePolicy
    package var resend: ResendPolicy
    package var voip: VoIPRule
    package var appVerification: AppVerificationPolicy
    package var limits: LimitPolicy
    package var testNumbers: [TestNumber]
    package var emailLinks: EmailLinkPolicy

    /// Nil for any domain and any app that a request names.
    package var autofill: AutofillPolicy?
    package var routes: Routes
    package var messages: MessagePolicy

    package init(
        appName: String,
        defaultLanguage: String = "en",
        regions: RegionPolicy,
        purposeRegions: [Purpose: RegionPolicy] = [:],
        code: CodePolicy = CodePolicy(),
        resend: ResendPolicy = ResendPolicy(),
        voip: VoIPRule = .record,
        appVerification: AppVerificationPolicy = .on(required: false, minimumScore: 0.5),
        limits: LimitPolicy = LimitPolicy(),
        testNumbers: [TestNumber] = [],
        emailLinks: EmailLinkPolicy = EmailLinkPolicy(),
        autofill: AutofillPolicy? = nil,
        routes: Routes,
        messages: MessagePolicy = MessagePolicy()
    ) {
        self.appName = appName
        self.defaultLanguage = defaultLanguage
        self.regions = regions
        self.purposeRegions = purposeRegions
        self.code = code
        self.resend = resend
        self.voip = voip
        self.appVerification = appVerification
        self.limits = limits
        self.testNumbers = testNumbers
        self.emailLinks = emailLinks
        self.autofill = autofill
        self.routes = routes
        self.messages = messages
    }

    /// The test number that a number is at a time, or nil.
    package func testNumber(_ number: PhoneNumber, at now: Timestamp) -> TestNumber? {
        testNumbers.first { testNumber in
            testNumber.number == number && testNumber.until.map { now < $0 } ?? true
        }
    }

    /// How long a verification lives from its first send: the link of an e-mail, or the code.
    func validity(of request: VerificationRequest) -> Duration {
        request.hasLink ? emailLinks.validity : code.validity
    }

    /// How long the code in an e-mail lives.
    func shortCodeValidity(of request: VerificationRequest) -> Duration {
        request.hasLink ? shortCodeValidity : code.validity
    }

    /// How long the code beside a link lives: as any code, and no longer than the link.
    package var shortCodeValidity: Duration { min(code.validity, emailLinks.validity) }

    package func regions(for purpose: Purpose) -> RegionPolicy {
        purposeRegions[purpose] ?? regions
    }
}

/// The form and the life of a code.
package struct CodePolicy: Sendable, Equatable {
    /// Digits, 4 to 10.
    package var length: Int

    /// From the first send of a generation.
    ///
    /// NIST SP 800-63B-4 and OWASP ASVS 6.5.5 allow at most 10 minutes.
    package var validity: Duration

    /// Wrong guesses after which the verification is locked.
    ///
    /// PSD2 RTS article 4 allows at most 5.
    package var maxChecks: Int

    package init(length: Int = 6, validity: Duration = .seconds(600), maxChecks: Int = 5) {
        self.length = length
        self.validity = validity
        self.maxChecks = maxChecks
    }
}

/// When a person who asks again gets another message.
package struct ResendPolicy: Sendable, Equatable {
    /// The windows after sends 1, 2, …: in each a repeated request sends nothing.
    package var windows: [Duration]

    /// While at least this much validity remains, a resend carries the same code.
    package var sameCodeWhileLeft: Duration

    package init(
        windows: [Duration] = [.seconds(60), .seconds(120), .seconds(300), .seconds(600)],
        sameCodeWhileLeft: Duration = .seconds(120)
    ) {
        self.windows = windows
        self.sameCodeWhileLeft = sameCodeWhileLeft
    }

    /// One send more than there are windows.
    package var maxSends: Int { windows.count + 1 }

    /// The window after send `number` (1, 2, …); the last one is followed by no send, so it repeats the last window.
    package func window(afterSend number: Int) -> Duration {
        windows.isEmpty ? .zero : windows[min(max(number, 1), windows.count) - 1]
    }
}
