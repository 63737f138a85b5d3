// SPDX-License-Identifier: Apache-2.0

package import Formats

/// One version of the operator's policy file.
package struct Policy: Sendable, Equatable {
    package let version: String
    package let tenants: [String: TenantPolicy]

    /// The operator's corrections to the numbering plans, for every tenant.
    package let numberPlan: NumberPlan

    /// The providers' prices, which budgets need.
    package let prices: PriceTable?

    package init(
        version: String,
        tenants: [String: TenantPolicy],
        numberPlan: NumberPlan = NumberPlan(),
        prices: PriceTable? = nil
    ) {
        self.version = version
        self.tenants = tenants
        self.numberPlan = numberPlan
        self.prices = prices
    }
}

package struct TenantPolicy: Sendable, Equatable {
    package var appName: String
    package var defaultLanguage: String
    package var regions: RegionPolicy

    /// The regions of purposes with a list of their own, which replaces `regions`.
    package var purposeRegions: [Purpose: RegionPolicy]
    package var code: CodePolicy
    package var resend: ResendPolicy
    package var voip: VoIPRule
    package var appVerification: AppVerificationPolicy
    package var limits: LimitPolicy
    package var testNumbers: [TestNumber]
    package var emailLinks: EmailLinkPolicy

    /// The sites and apps for autofill; nil allows any that a request names.
    package var autofill: AutofillPolicy?
    package var routes: Routes
    package var messages: MessagePolicy
    package var brake: BrakePolicy

    /// The budgets in the order of the policy: the first without room for a message is the reason of a refusal.
    package var budgets: [Budget]

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
        messages: MessagePolicy = MessagePolicy(),
        brake: BrakePolicy = BrakePolicy(),
        budgets: [Budget] = []
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
        self.brake = brake
        self.budgets = budgets
    }

    /// The test number with this phone number, if it is still in use at `now`; otherwise nil.
    package func testNumber(_ number: PhoneNumber, at now: Timestamp) -> TestNumber? {
        testNumbers.first { testNumber in
            testNumber.number == number && testNumber.until.map { now < $0 } ?? true
        }
    }

    /// The validity of a verification's credential from its first send: of the link in an e-mail, otherwise of the
    /// code.
    func validity(of request: VerificationRequest) -> Duration {
        request.hasLink ? emailLinks.validity : code.validity
    }

    /// The validity of the code in an e-mail.
    func shortCodeValidity(of request: VerificationRequest) -> Duration {
        request.hasLink ? shortCodeValidity : code.validity
    }

    /// The validity of a code beside a link: as of any code, but at most the link's.
    package var shortCodeValidity: Duration { min(code.validity, emailLinks.validity) }

    package func regions(for purpose: Purpose) -> RegionPolicy {
        purposeRegions[purpose] ?? regions
    }
}

/// The format and the validity of codes.
package struct CodePolicy: Sendable, Equatable {
    /// The number of digits, 4 to 10.
    package var length: Int

    /// The validity from the first send of a code.
    ///
    /// NIST SP 800-63B-4 and OWASP ASVS 6.5.5 allow at most 10 minutes.
    package var validity: Duration

    /// The number of wrong guesses that lock the verification.
    ///
    /// PSD2 RTS article 4 allows at most 5.
    package var maxChecks: Int

    package init(length: Int = 6, validity: Duration = .seconds(600), maxChecks: Int = 5) {
        self.length = length
        self.validity = validity
        self.maxChecks = maxChecks
    }
}

/// The rules for repeated requests of one person.
package struct ResendPolicy: Sendable, Equatable {
    /// The windows after sends 1, 2, …: a request within a window sends nothing.
    package var windows: [Duration]

    /// The minimum remaining validity at which a resend carries the same code.
    package var sameCodeWhileLeft: Duration

    package init(
        windows: [Duration] = [.seconds(60), .seconds(120), .seconds(300), .seconds(600)],
        sameCodeWhileLeft: Duration = .seconds(120)
    ) {
        self.windows = windows
        self.sameCodeWhileLeft = sameCodeWhileLeft
    }

    package var maxSends: Int { windows.count + 1 }

    /// The window after send `number` (1, 2, …); after the last send it repeats the last window.
    package func window(afterSend number: Int) -> Duration {
        windows.isEmpty ? .zero : windows[min(max(number, 1), windows.count) - 1]
    }
}
