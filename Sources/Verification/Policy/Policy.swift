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

    /// The digests of tenants in the keys of their limits, made once for all requests.
    let limitOwners: [String: LimitOwners]

    package init(
        version: String,
        tenants: [String: TenantPolicy],
        numberPlan: NumberPlan = NumberPlan(),
        prices: PriceTable? = nil
    ) {
        self.version = version
        self.tenants = tenants
        limitOwners = Dictionary(uniqueKeysWithValues: tenants.keys.map { ($0, LimitOwners(tenant: $0)) })
        self.numberPlan = numberPlan
        self.prices = prices
    }
}

/// The rules of one tenant.
///
/// They are wide and pass from rule to rule, so they are shared.
package struct TenantPolicy: Sendable, Equatable, CustomReflectable {
    private var shared: Shared<Fields>

    private struct Fields: Sendable, Equatable {
        var appName: String
        var defaultLanguage: String
        var regions: RegionPolicy
        var purposeRegions: [Purpose: RegionPolicy]
        var code: CodePolicy
        var resend: ResendPolicy
        var voip: VoIPRule
        var appVerification: AppVerificationPolicy
        var limits: LimitPolicy
        var testNumbers: [TestNumber]
        var emailLinks: EmailLinkPolicy
        var autofill: AutofillPolicy?
        var routes: Routes
        var messages: MessagePolicy
        var brake: BrakePolicy
        var budgets: [Budget]
    }

    /// The fields, for a list of all of them.
    package var customMirror: Mirror { Mirror(reflecting: shared.fields) }

    package var appName: String {
        get { shared.fields.appName }
        set { shared.fields.appName = newValue }
    }
    package var defaultLanguage: String {
        get { shared.fields.defaultLanguage }
        set { shared.fields.defaultLanguage = newValue }
    }
    package var regions: RegionPolicy {
        get { shared.fields.regions }
        set { shared.fields.regions = newValue }
    }

    /// The regions of purposes with a list of their own, which replaces `regions`.
    package var purposeRegions: [Purpose: RegionPolicy] {
        get { shared.fields.purposeRegions }
        set { shared.fields.purposeRegions = newValue }
    }
    package var code: CodePolicy {
        get { shared.fields.code }
        set { shared.fields.code = newValue }
    }
    package var resend: ResendPolicy {
        get { shared.fields.resend }
        set { shared.fields.resend = newValue }
    }
    package var voip: VoIPRule {
        get { shared.fields.voip }
        set { shared.fields.voip = newValue }
    }
    package var appVerification: AppVerificationPolicy {
        get { shared.fields.appVerification }
        set { shared.fields.appVerification = newValue }
    }
    package var limits: LimitPolicy {
        get { shared.fields.limits }
        set { shared.fields.limits = newValue }
    }
    package var testNumbers: [TestNumber] {
        get { shared.fields.testNumbers }
        set { shared.fields.testNumbers = newValue }
    }
    package var emailLinks: EmailLinkPolicy {
        get { shared.fields.emailLinks }
        set { shared.fields.emailLinks = newValue }
    }

    /// The sites and apps for autofill; nil allows any that a request names.
    package var autofill: AutofillPolicy? {
        get { shared.fields.autofill }
        set { shared.fields.autofill = newValue }
    }
    package var routes: Routes {
        get { shared.fields.routes }
        set { shared.fields.routes = newValue }
    }
    package var messages: MessagePolicy {
        get { shared.fields.messages }
        set { shared.fields.messages = newValue }
    }
    package var brake: BrakePolicy {
        get { shared.fields.brake }
        set { shared.fields.brake = newValue }
    }

    /// The budgets in the order of the policy: the first without room for a message is the reason of a refusal.
    package var budgets: [Budget] {
        get { shared.fields.budgets }
        set { shared.fields.budgets = newValue }
    }

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
        shared = Shared(
            Fields(
                appName: appName,
                defaultLanguage: defaultLanguage,
                regions: regions,
                purposeRegions: purposeRegions,
                code: code,
                resend: resend,
                voip: voip,
                appVerification: appVerification,
                limits: limits,
                testNumbers: testNumbers,
                emailLinks: emailLinks,
                autofill: autofill,
                routes: routes,
                messages: messages,
                brake: brake,
                budgets: budgets
            )
        )
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
