// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

/// Tests app verification by silent push.
@Suite struct DecisionPushTests {
    @Test(arguments: Purpose.allCases) func `a push verifies an app and nothing else`(purpose: Purpose) throws {
        var tables = DecisionTables()
        let record = InboundRecord.push(
            id: "r1",
            purpose: purpose.rawValue,
            at: tables.now,
            more: #","subject":"ada""#
        )
        let changes = tables.intake(record)
        #expect(changes.sends.isEmpty == (purpose != .appVerification))
        guard purpose != .appVerification else { return }
        let event = try #require(changes.events.first)
        #expect(event.reason == "invalid_request")
        #expect(event.rule == "shape.purpose")
        #expect(event.text("field") == "purpose")
    }

    @Test func `a push needs no app verification and counts in the limits`() throws {
        var tables = DecisionTables(numbers: FixedNumbers(region: "RU", isValid: false)) {
            $0.appVerification = .on(required: true, minimumScore: 0.5)
            $0.limits.perRecipient = [RateLimit(count: 1, per: .seconds(60))]
            $0.limits.perIP = [RateLimit(count: 1, per: .seconds(60))]
        }
        let changes = tables.intake(.push(id: "r1", at: tables.now, more: #","client":{"ip":"192.0.2.1"}"#))
        #expect(changes.sends.count == 1)
        #expect(changes.windows.count == 2)
    }

    @Test func `a tenant without app verification sends no pushes`() throws {
        var tables = DecisionTables { $0.appVerification = .off }
        #expect(tables.intake(.push(id: "r1", at: tables.now)).events.first?.reason == "test_number_only")
    }

    @Test func `a push has a secret that lives like a code, and its event no length and no region`() throws {
        var tables = DecisionTables()
        let claim = try #require(tables.intake(.push(id: "r1", at: tables.now)).sends.first)
        let row = try #require(tables.verifications.values.first)
        #expect(claim.credential.secret.utf8.count == 43)
        #expect(claim.credential.code == nil && claim.link() == nil && claim.region == nil)
        #expect(row.codeHash == tables.codeHash(of: claim, row))
        #expect(row.codeLength == nil && row.shortCode == nil)
        #expect(claim.validityLeft == .seconds(600))

        let record = try #require(tables.settle(claim, .sent).outbox.first)
        let event = try #require(EventsView(record))
        #expect(event.object("code")?.members.map(\.name) == ["generation"])
        #expect(event.object("recipient")?.text("masked") == "0f0f…")
        #expect(event.object("recipient")?["region"] == nil)
        let text = String(decoding: record.value ?? [], as: UTF8.self)
        #expect(!text.contains(claim.credential.secret) && !text.contains("0f0f0f"))
    }

    @Test func `a lost push is taken over with its app and its secret`() throws {
        var tables = DecisionTables()
        let claim = try #require(tables.intake(.push(id: "r1", at: tables.now)).sends.first)
        tables.now = tables.now + .seconds(31)
        let again = try #require(tables.sweep().claims.first)
        #expect(again.recipient == claim.recipient)
        #expect(again.credential == claim.credential)
        guard case .device(let device) = again.recipient else {
            Issue.record("a push is for a device")
            return
        }
        #expect(device.bundleID == "com.example.app")
        #expect(device.environment == .sandbox)
    }

    @Test(arguments: [(Duration.seconds(480), true), (.seconds(480) + .microseconds(1), false)])
    func `a push asked for again repeats its secret while two minutes are left`(age: Duration, isSame: Bool) throws {
        var tables = DecisionTables()
        let first = try #require(tables.intake(.push(id: "r1", at: tables.now)).sends.first)
        tables.settle(first, .sent)
        tables.now = tables.now + age
        let claim = try #require(tables.intake(.push(id: "r2", offset: 1, at: tables.now)).sends.first)
        #expect((claim.credential == first.credential) == isSame)
        #expect(claim.generation == (isSame ? 1 : 2))
    }
}
