// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

/// Tests e-mail links: the requests that get one, and the validity of links and codes.
@Suite struct DecisionEmailTests {
    typealias Refused = (actionCode: String, reason: String, field: String)

    static let refusals: [Refused] = [
        (#"{"handleCodeInApp":true}"#, "invalid_request", "actionCode.url"),
        (#"{"url":"http://example.com/","handleCodeInApp":true}"#, "invalid_request", "actionCode.url"),
        (#"{"url":"https://example.com/"}"#, "invalid_request", "actionCode.handleCodeInApp"),
        (
            #"{"url":"https://example.com/","handleCodeInApp":false}"#, "invalid_request",
            "actionCode.handleCodeInApp"
        ),
        (
            #"{"url":"https://example.com/","handleCodeInApp":true,"androidInstallApp":true}"#, "invalid_request",
            "actionCode.androidPackageName"
        ),
        (
            #"{"url":"https://example.com/","handleCodeInApp":true,"androidMinimumVersion":"1"}"#, "invalid_request",
            "actionCode.androidPackageName"
        ),
        (#"{"url":"https://example.org/","handleCodeInApp":true}"#, "unauthorized_domain", "actionCode.url"),
        (#"{"url":"https://www.example.com/","handleCodeInApp":true}"#, "unauthorized_domain", "actionCode.url"),
        (#"{"url":"https://notexample.com/","handleCodeInApp":true}"#, "unauthorized_domain", "actionCode.url"),
        (#"{"url":"https://example.com.evil.org/","handleCodeInApp":true}"#, "unauthorized_domain", "actionCode.url"),
        (#"{"url":"http://localhost/","handleCodeInApp":true}"#, "unauthorized_domain", "actionCode.url"),
        (
            #"{"url":"https://example.com/","linkDomain":"evil.org","handleCodeInApp":true}"#, "unauthorized_domain",
            "actionCode.linkDomain"
        ),
    ]

    @Test(arguments: refusals.indices) func `an action code that breaks a rule is refused with its field`(
        index: Int
    ) throws {
        let (actionCode, reason, field) = Self.refusals[index]
        var tables = DecisionTables()
        let changes = tables.intake(.email(id: "r1", actionCode: actionCode, at: tables.now))
        let event = try #require(changes.events.first)
        #expect(changes.sends.isEmpty && changes.insertedVerifications.isEmpty)
        #expect(event.status == "rejected")
        #expect(event.reason == reason)
        #expect(event.text("field") == field)
        #expect(event.rule == (reason == "invalid_request" ? "shape.\(field)" : "email_link.domain"))
        #expect(event.object("recipient")?["region"] == nil)
    }

    @Test func `without an action code the code goes alone, needs no domain and lives as any code`() throws {
        var tables = DecisionTables { $0.emailLinks = EmailLinkPolicy(authorizedDomains: [], validity: .seconds(300)) }
        let claim = try #require(tables.intake(.email(id: "r1", actionCode: nil, at: tables.now)).sends.first)
        #expect(claim.link() == nil && claim.rendering.sealedActionCode == nil)
        #expect(claim.validityLeft == .seconds(600) && claim.shortCodeLeft == .seconds(600))
        let row = try #require(tables.verifications.values.first)
        #expect(row.shortCode?.hash == tables.hash(of: claim.code.digits, row))

        guard case .email(let mail) = claim.content(tenant: nil, elapsed: .seconds(570)) else {
            Issue.record("no e-mail")
            return
        }
        for part in [mail.text, mail.html] {
            #expect(part.contains(claim.code.digits))
            #expect(!part.contains("http") && !part.contains("link"))
        }
        let event = try #require(tables.settle(claim, .sent).events.first)
        #expect(event.text("expiresAt") == (tables.now + .seconds(600)).rfc3339)
    }

    @Test func `a lost claim of a code alone is taken over as it was`() throws {
        var tables = DecisionTables()
        let claim = try #require(tables.intake(.email(id: "r1", actionCode: nil, at: tables.now)).sends.first)
        tables.now = tables.now + .seconds(31)
        let again = try #require(tables.sweep().claims.first)
        #expect(again.credential == claim.credential && again.actionCode == nil)
        #expect(again.content(tenant: nil, elapsed: .zero) != nil)
    }

    @Test func `a resend may leave the link out or bring it, and its code is the same`() throws {
        var tables = DecisionTables()
        let first = try #require(tables.intake(.email(id: "r1", at: tables.now)).sends.first)
        tables.settle(first, .sent)
        tables.now = tables.now + .seconds(400)
        let alone = try #require(
            tables.intake(.email(id: "r2", actionCode: nil, offset: 1, at: tables.now)).sends.first
        )
        #expect(alone.credential == first.credential && alone.link() == nil)
        // The link stays valid longer than the code.
        #expect(alone.validityLeft == .seconds(800) && alone.timeLeft == .seconds(200))
        tables.settle(alone, .sent)
        tables.now = tables.now + .seconds(1)
        let changes = tables.intake(.email(id: "r3", offset: 2, at: tables.now))
        #expect(changes.events.first?.status == "suppressed")
    }

    @Test(arguments: [
        #"{"url":"https://EXAMPLE.com:8443/x","handleCodeInApp":true}"#,
        #"{"url":"https://example.com/","linkDomain":"Links.Example.com","handleCodeInApp":true}"#,
        #"{"url":"http://localhost:3000/","handleCodeInApp":true}"#,
        #"{"url":"https://example.com/","handleCodeInApp":true,"androidInstallApp":false}"#,
        """
        {"url":"https://example.com/","handleCodeInApp":true,"androidInstallApp":true,"androidMinimumVersion":"1",\
        "androidPackageName":"com.example.app"}
        """,
    ])
    func `an action code inside the rules gets its link`(actionCode: String) throws {
        var tables = DecisionTables { $0.emailLinks.authorizedDomains.append("localhost") }
        let claim = try #require(
            tables.intake(.email(id: "r1", actionCode: actionCode, at: tables.now)).sends.first
        )
        #expect(claim.link()?.url.contains(claim.credential.secret) == true)
    }

    @Test func `a mail has its link at the policy's path`() throws {
        var tables = DecisionTables()
        let claim = try #require(tables.intake(.email(id: "r1", at: tables.now)).sends.first)
        let policy = Policy.test { $0.emailLinks.path = "/auth/action" }
        guard case .email(let mail) = claim.content(tenant: policy.tenants["default"], elapsed: .zero) else {
            Issue.record("no mail")
            return
        }
        #expect(mail.text.contains("/auth/action?mode=signIn&") && !mail.text.contains("/__/auth/links"))
    }

    @Test func `without authorised domains there are no links`() throws {
        var tables = DecisionTables { $0.emailLinks.authorizedDomains = [] }
        #expect(tables.intake(.email(id: "r1", at: tables.now)).events.first?.reason == "unauthorized_domain")
    }

    @Test func `an address has no region, and app verification and limits apply to it`() throws {
        var tables = DecisionTables(numbers: FixedNumbers(region: "RU", isValid: false)) {
            $0.appVerification = .on(required: true, minimumScore: 0.5)
            $0.limits.perRecipient = [RateLimit(count: 1, per: .seconds(60))]
        }
        let without = tables.intake(.email(id: "r1", at: tables.now))
        #expect(without.events.first?.reason == "app_verification_required")

        let shown = #","appVerification":{"method":"recaptcha","verdict":"pass"}"#
        let changes = tables.intake(.email(id: "r2", offset: 1, at: tables.now, more: shown))
        let claim = try #require(changes.sends.first)
        #expect(claim.region == nil)
        #expect(changes.windows.count == 1)
        let sent = try #require(tables.settle(claim, .sent).events.first)
        #expect(sent.object("recipient")?.text("masked") == "a***@e***.com")
        #expect(sent.object("recipient")?["region"] == nil)
        #expect(sent.object("code")?["length"] != nil)
    }

    @Test(arguments: [
        (#"{"method":"recaptcha","score":0.4}"#, "app_verification_failed"),
        (#"{"score":0.4}"#, "app_verification_failed"), (#"{"verdict":"fail"}"#, "app_verification_failed"),
        (#"{"method":"recaptcha","score":0.5}"#, nil),
        (#"{"method":"recaptcha","verdict":"pass","score":0.4}"#, "app_verification_failed"),
        (#"{"method":"recaptcha","verdict":"pass"}"#, nil), ("{}", nil),
    ])
    func `what speaks against an app is heard where none need be shown`(shown: String, reason: String?) {
        var tables = DecisionTables()
        let changes = tables.intake(.email(id: "r1", at: tables.now, more: #","appVerification":\#(shown)"#))
        #expect(changes.events.first?.reason == reason)
        #expect(changes.sends.count == (reason == nil ? 1 : 0))
    }

    @Test func `a tenant without app verification sends no links`() throws {
        var tables = DecisionTables { $0.appVerification = .off }
        #expect(tables.intake(.email(id: "r1", at: tables.now)).events.first?.reason == "test_number_only")
    }

    @Test func `link and code live from the first message on, each its own time`() throws {
        var tables = DecisionTables()
        let claim = try #require(tables.intake(.email(id: "r1", at: tables.now)).sends.first)
        let row = try #require(tables.verifications.values.first)
        #expect(row.codeHash == tables.codeHash(of: claim, row))
        #expect(row.shortCode?.hash == tables.hash(of: claim.code.digits, row))
        #expect(row.codeLength == 6)
        #expect(claim.validityLeft == .seconds(1200) && claim.shortCodeLeft == .seconds(600))

        tables.now = tables.now + .seconds(7)
        let event = try #require(tables.settle(claim, .sent).events.first)
        let sent = try #require(tables.verifications.values.first)
        #expect(sent.expiresAt == tables.now + .seconds(1200))
        #expect(sent.shortCode?.until == tables.now + .seconds(600))
        #expect(event.text("expiresAt") == sent.expiresAt.rfc3339)
    }

    @Test func `the code beside a link that lives shorter is over with it`() throws {
        var tables = DecisionTables { $0.emailLinks.validity = .seconds(300) }
        let claim = try #require(tables.intake(.email(id: "r1", at: tables.now)).sends.first)
        #expect(claim.validityLeft == .seconds(300) && claim.shortCodeLeft == .seconds(300))
    }

    @Test(arguments: [
        (Duration.seconds(480), true), (.seconds(480) + .microseconds(1), false), (.seconds(1100), false),
    ])
    func `a resend repeats link and code while two minutes of the code are left`(age: Duration, isSame: Bool) throws {
        var tables = DecisionTables()
        let first = try #require(tables.intake(.email(id: "r1", at: tables.now)).sends.first)
        tables.settle(first, .sent)
        let before = try #require(tables.verifications.values.first)
        tables.now = tables.now + age
        let claim = try #require(tables.intake(.email(id: "r2", offset: 1, at: tables.now)).sends.first)
        let after = try #require(tables.verifications[before.id])

        #expect(claim.reference.verificationID == before.id)
        #expect((claim.credential == first.credential) == isSame)
        #expect(claim.generation == (isSame ? 1 : 2))
        #expect((after.shortCode == before.shortCode) == isSame)
        #expect((after.codeHash == before.codeHash) == isSame)
        #expect(after.expiresAt == (isSame ? before.expiresAt : tables.now + .seconds(1200)))
        #expect(claim.reference.validity == (isSame ? nil : .seconds(1200)))
        #expect(after.shortCode?.hash == tables.hash(of: claim.code.digits, after))
    }

    @Test func `while no message has left neither life has begun`() throws {
        var tables = DecisionTables()
        let first = try #require(tables.intake(.email(id: "r1", at: tables.now)).sends.first)
        tables.settle(first, .failed(.providerUnavailable))
        tables.now = tables.now + .seconds(100)
        let claim = try #require(tables.intake(.email(id: "r2", offset: 1, at: tables.now)).sends.first)
        #expect(claim.credential == first.credential)
        #expect(claim.validityLeft == .seconds(1200) && claim.shortCodeLeft == .seconds(600))
        #expect(claim.reference.validity == .seconds(1200))
    }

    @Test func `the code beside a link keeps its own time when links live longer meanwhile`() throws {
        var tables = DecisionTables()
        tables.settle(
            try #require(tables.intake(.email(id: "r1", at: tables.now)).sends.first),
            .failed(.providerUnavailable)
        )
        tables.change { $0.emailLinks.validity = .seconds(86_400) }
        tables.now = tables.now + .seconds(100)
        let claim = try #require(tables.intake(.email(id: "r2", offset: 1, at: tables.now)).sends.first)
        #expect(claim.validityLeft == .seconds(86_400) && claim.shortCodeLeft == .seconds(600))
        tables.settle(claim, .sent)
        #expect(tables.verifications.values.first?.shortCode?.until == tables.now + .seconds(600))
    }

    @Test func `a lost claim is taken over with the same link`() throws {
        var tables = DecisionTables()
        let target = #"{"url":"https://example.com/?user=ada%40example.com","handleCodeInApp":true}"#
        let claim = try #require(
            tables.intake(.email(id: "r1", actionCode: target, at: tables.now)).sends.first
        )
        #expect(!claim.rendering.json.contains("example"))
        tables.now = tables.now + .seconds(31)
        let again = try #require(tables.sweep().claims.first)
        #expect(again.credential == claim.credential)
        #expect(again.recipient == claim.recipient)
        #expect(again.link() == claim.link())
        #expect(again.link()?.url.contains("ada%2540example.com") == true)
        #expect(again.shortCodeLeft == .seconds(569))
    }

    @Test func `a lost claim whose link cannot be made again fails and costs the person nothing`() throws {
        var tables = DecisionTables()
        let claim = try #require(tables.intake(.email(id: "r1", at: tables.now)).sends.first)
        let rendering = Rendering(
            language: "en",
            appName: "Acme",
            domain: nil,
            androidAppHash: nil,
            sealedActionCode: Array(repeating: 1, count: 60)
        )
        let due = DueSend(
            reference: claim.reference,
            generation: 1,
            state: .claimed,
            deadline: claim.deadline,
            attempts: 0,
            rendering: rendering
        )
        let swept = SweepDecision.decide([due], tables.verifications, now: tables.now, capacity: 9, keys: tables.keys)
        #expect(swept.results.map(\.disposition) == [.failed(.providerUnavailable)])
    }

    @Test func `another target under the same request id is a conflict`() throws {
        var tables = DecisionTables()
        tables.intake(.email(id: "r1", at: tables.now))
        let other = #"{"url":"https://example.com/other","handleCodeInApp":true}"#
        let changes = tables.intake(.email(id: "r1", actionCode: other, offset: 1, at: tables.now))
        #expect(changes.events.first?.reason == "request_id_conflict")
    }

    @Test func `no event tells an address, a target, a token or a code`() throws {
        var tables = DecisionTables()
        let claim = try #require(tables.intake(.email(id: "r1", at: tables.now)).sends.first)
        var records = tables.intake(.email(id: "r2", offset: 1, at: tables.now)).outbox
        records += tables.settle(claim, .sent).outbox
        records += tables.intake(.email(id: "r1", offset: 2, at: tables.now)).outbox
        let elsewhere = #"{"url":"https://example.org/ada","handleCodeInApp":true}"#
        records += tables.intake(.email(id: "r3", actionCode: elsewhere, offset: 3, at: tables.now)).outbox
        tables.now = tables.now + .seconds(3600)
        records += tables.expire()
        #expect(records.count == 6, "the second request gets the outcome, too")
        for record in records {
            let text = String(decoding: record.value ?? [], as: UTF8.self)
            for secret in ["ada", "example.", claim.credential.secret, "\"\(claim.code.digits)\""] {
                #expect(!text.contains(secret), "\(secret)")
            }
        }
    }
}

extension DecisionTables {
    /// The hash that a verifier computes from a guess.
    func hash(of guess: String, _ verification: StoredVerification) -> [UInt8]? {
        keys.hash[verification.hashKey].map { key in
            VerificationCode.hash(
                secret: guess,
                verification: verification.id,
                tenant: verification.tenant,
                purpose: verification.purpose.rawValue,
                key: key
            )
        }
    }
}
