// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

/// Tests the slot: one live verification per tenant, purpose and recipient.
@Suite struct DecisionSlotTests {
    static let windows: [Duration] = [.seconds(60), .seconds(120), .seconds(300), .seconds(600)]

    /// Tables after `count` messages to one person, the last one at the current time.
    ///
    /// The default validity is long enough that the code does not expire during a test.
    private func tables(afterSends count: Int, validity: Duration = .seconds(86_400)) throws -> DecisionTables {
        var tables = DecisionTables { $0.code.validity = validity }
        for send in 1...count {
            let changes = tables.intake(.request(id: "s\(send)", offset: Int64(send), at: tables.now))
            let claim = try #require(changes.sends.first, "send \(send)")
            #expect(claim.reference.number == Int16(send))
            tables.settle(claim, .sent)
            if send < count { tables.now = tables.now + Self.windows[send - 1] }
        }
        return tables
    }

    @Test(arguments: 1...4)
    func `a resend window closes at its last microsecond and no earlier`(send: Int) throws {
        var tables = try tables(afterSends: send)
        let sentAt = tables.now
        let code = try #require(tables.verifications.values.first)

        tables.now = sentAt + Self.windows[send - 1] - .microseconds(1)
        let early = tables.intake(.request(id: "early", offset: 10, at: tables.now))
        #expect(early.sends.isEmpty)
        #expect(early.events.first?.status == "suppressed")
        #expect(early.events.first?.reason == "resend_window")
        #expect(early.events.first?.verificationID == code.id.description)
        #expect(early.events.first?.text("retryAfter") == (sentAt + Self.windows[send - 1]).rfc3339)

        tables.now = sentAt + Self.windows[send - 1]
        let free = tables.intake(.request(id: "free", offset: 11, at: tables.now))
        let claim = try #require(free.sends.first)
        #expect(free.outbox.isEmpty)
        #expect(claim.reference.verificationID == code.id)
        #expect(claim.reference.number == Int16(send + 1))
        #expect(claim.reference.validity == nil)
        #expect(tables.verifications[code.id]?.codeHash == code.codeHash)
    }

    @Test func `after the last send a request is refused until the verification ends`() throws {
        var tables = try tables(afterSends: 5)
        let end = try #require(tables.verifications.values.first).expiresAt
        tables.now = tables.now + .seconds(599)
        #expect(tables.intake(.request(id: "a", offset: 10, at: tables.now)).events.first?.reason == "resend_window")
        tables.now = tables.now + .seconds(1)
        let refused = tables.intake(.request(id: "b", offset: 11, at: tables.now))
        #expect(refused.events.first?.status == "rejected")
        #expect(refused.events.first?.reason == "max_sends")
        #expect(refused.events.first?.text("retryAfter") == end.rfc3339)
        #expect(refused.sends.isEmpty)

        tables.now = end - .microseconds(1)
        #expect(tables.intake(.request(id: "c", offset: 12, at: tables.now)).events.first?.reason == "max_sends")
        tables.now = end
        let fresh = try #require(tables.intake(.request(id: "d", offset: 13, at: tables.now)).sends.first)
        #expect(fresh.reference.number == 1)
        #expect(tables.verifications.count == 2)
    }

    @Test(arguments: [(Duration.seconds(480), true), (.seconds(480) + .microseconds(1), false)])
    func `a resend repeats the code while two minutes of it are left`(age: Duration, isSame: Bool) throws {
        var tables = try tables(afterSends: 1, validity: .seconds(600))
        let before = try #require(tables.verifications.values.first)
        for _ in 0..<3 { tables.guessWrong(before.id) }
        tables.now = tables.now + age
        let claim = try #require(tables.intake(.request(id: "again", offset: 9, at: tables.now)).sends.first)
        let after = try #require(tables.verifications[before.id])

        #expect(claim.reference.verificationID == before.id)
        #expect(claim.generation == (isSame ? 1 : 2))
        #expect(after.generation == claim.generation)
        #expect((after.codeHash == before.codeHash) == isSame)
        #expect(after.checksUsed == (isSame ? 3 : 0))
        #expect(after.expiresAt == (isSame ? before.expiresAt : tables.now + .seconds(600)))
        #expect(claim.reference.validity == (isSame ? nil : .seconds(600)))
        #expect(after.codeHash == tables.codeHash(of: claim, after))
    }

    @Test func `a new generation is made when the key of the code is gone from the ring`() throws {
        var tables = try tables(afterSends: 1)
        tables.keys = CodeKeys(code: .test(9, id: 2), hash: .test(2), fingerprint: .test(3), seal: .test(4))
        tables.now = tables.now + .seconds(60)
        let claim = try #require(tables.intake(.request(id: "again", offset: 9, at: tables.now)).sends.first)
        #expect(claim.generation == 2)
        #expect(tables.verifications[claim.reference.verificationID]?.codeKey == KeyID(2))
    }

    @Test(
        arguments: [
            CodeKeys(code: .test(9), hash: .test(2), fingerprint: .test(3), seal: .test(4)),
            CodeKeys(code: .test(1), hash: .test(9), fingerprint: .test(3), seal: .test(4)),
        ]
    )
    func `a code that was hashed with other keys does not leave again, and a new one does`(keys: CodeKeys) throws {
        var tables = try tables(afterSends: 1)
        let before = try #require(tables.verifications.values.first)
        tables.keys = keys
        tables.now = tables.now + .seconds(60)
        let claim = try #require(tables.intake(.request(id: "again", offset: 9, at: tables.now)).sends.first)
        let after = try #require(tables.verifications[claim.reference.verificationID])
        #expect(after.id == before.id)
        #expect(claim.generation == 2)
        #expect(after.codeHash != before.codeHash)
        #expect(after.codeHash == tables.codeHash(of: claim, after))
        #expect(claim.reference.validity == .seconds(86_400))
    }

    @Test func `a code whose hash cannot be compared, since its key is gone, is repeated`() throws {
        var tables = try tables(afterSends: 1)
        tables.keys = CodeKeys(code: .test(1), hash: .test(9, id: 2), fingerprint: .test(3), seal: .test(4))
        tables.now = tables.now + .seconds(60)
        let claim = try #require(tables.intake(.request(id: "again", offset: 9, at: tables.now)).sends.first)
        #expect(claim.generation == 1)
    }

    @Test func `an expired verification makes room at its last microsecond`() throws {
        var tables = try tables(afterSends: 1, validity: .seconds(30))
        let first = try #require(tables.verifications.values.first)
        tables.now = first.expiresAt - .microseconds(1)
        let late = tables.intake(.request(id: "late", offset: 8, at: tables.now))
        #expect(late.events.first?.verificationID == first.id.description)
        tables.now = first.expiresAt
        let claim = try #require(tables.intake(.request(id: "next", offset: 9, at: tables.now)).sends.first)
        #expect(claim.reference.verificationID != first.id)
        #expect(claim.generation == 1)
    }

    @Test(arguments: [StoredVerification.State.approved, .cancelled, .expired])
    func `an ended verification makes room at once`(state: StoredVerification.State) throws {
        var tables = try tables(afterSends: 1)
        let first = try #require(tables.verifications.values.first)
        tables.verifications[first.id]?.state = state
        let claim = try #require(tables.intake(.request(id: "next", offset: 9, at: tables.now)).sends.first)
        #expect(claim.reference.verificationID != first.id)
        #expect(claim.reference.number == 1)
    }

    @Test func `a locked verification refuses until it expires`() throws {
        var tables = try tables(afterSends: 1, validity: .seconds(600))
        let first = try #require(tables.verifications.values.first)
        for _ in 0..<5 { tables.guessWrong(first.id) }
        #expect(tables.verifications[first.id]?.state == .locked)

        tables.now = first.expiresAt - .microseconds(1)
        let refused = tables.intake(.request(id: "a", offset: 8, at: tables.now))
        #expect(refused.events.first?.status == "rejected")
        #expect(refused.events.first?.reason == "locked")
        #expect(refused.events.first?.text("retryAfter") == first.expiresAt.rfc3339)
        #expect(refused.sends.isEmpty)
        tables.now = first.expiresAt
        let claim = try #require(tables.intake(.request(id: "b", offset: 9, at: tables.now)).sends.first)
        #expect(claim.reference.verificationID != first.id)
    }

    @Test func `a refusal by a verification is one of its events, and so is its repeat`() throws {
        var tables = try tables(afterSends: 1)
        let current = try #require(tables.verifications.values.first)
        for _ in 0..<5 { tables.guessWrong(current.id) }
        let records = (8...9).map { InboundRecord.request(id: "a", offset: $0, at: tables.now) }
        let events = records.compactMap { tables.intake($0).events.first }
        #expect(events.map(\.reason) == ["locked", "duplicate_request"])
        #expect(events.map(\.status) == ["rejected", "rejected"])
        #expect(events.map { $0.text("originalReason") } == [nil, "locked"])
        #expect(events.map(\.rule) == ["slot.locked", "slot.locked"])
        #expect(events.map(\.verificationID) == Array(repeating: current.id.description, count: 2))
        #expect(events.map(\.sequence) == [2, 3])
        #expect(tables.verifications[current.id]?.status == .sent)

        tables.verifications = [:]
        let late = try #require(tables.intake(.request(id: "a", offset: 10, at: tables.now)).events.first)
        #expect(late.status == "rejected" && late.text("originalReason") == "locked" && late.verificationID == nil)
    }

    @Test func `a send without an outcome suppresses even past the window`() throws {
        var tables = DecisionTables()
        let claim = try #require(tables.intake(.request(id: "r1", at: tables.now)).sends.first)
        tables.now = tables.now + .seconds(599)
        let waiting = tables.intake(.request(id: "r2", offset: 1, at: tables.now))
        #expect(waiting.sends.isEmpty)
        #expect(waiting.events.first?.status == "suppressed")
        #expect(waiting.events.first?.reason == "send_pending")
        #expect(waiting.events.first?.rule == "slot.send_pending")
        #expect(waiting.events.first?.text("retryAfter") == (tables.now + .seconds(5)).rfc3339)
        tables.settle(claim, .unknown(.timeout))
        let late = tables.intake(.request(id: "r3", offset: 2, at: tables.now))
        #expect(late.sends.isEmpty)
        #expect(late.events.first?.reason == "resend_window")
        tables.now = tables.now + .seconds(60)
        #expect(tables.intake(.request(id: "r4", offset: 3, at: tables.now)).sends.count == 1)
    }

    @Test(arguments: [.sent, .failed(.providerUnavailable), .unknown(.timeout), .expiredUnsent] as [SendDisposition])
    func `requests that wait for an open send get its outcome, each under its own id`(end: SendDisposition) throws {
        var tables = DecisionTables()
        let records = (1...12).map { InboundRecord.request(id: "r\($0)", offset: Int64($0), at: tables.now) }
        let claim = try #require(tables.intake(tables.candidates(records)).sends.first)
        tables.settle(claim, .retry(after: .seconds(2)))
        tables.now = tables.now + .seconds(3)
        let taken = try #require(tables.sweep().claims.first)
        let events = tables.settle(taken, end).events
        #expect(events.map(\.requestID) == (1...9).map { "r\($0)" }, "the request and eight more")
        #expect(Set(events.map(\.status)).count == 1 && Set(events.map(\.reason)).count == 1)
        #expect(Set(events.map { $0.object("send")?.text("id") }) == [claim.id.description])
        #expect(events.map(\.sequence) == (12...20).map { Int64($0) })

        // The next send has no one waiting.
        tables.now = tables.now + .seconds(60)
        let next = try #require(tables.intake(.request(id: "next", offset: 20, at: tables.now)).sends.first)
        #expect(tables.settle(next, .sent).events.map(\.requestID) == ["next"])
    }

    @Test func `a late answer to an earlier send is no outcome of the open one`() throws {
        var tables = DecisionTables()
        let first = try #require(tables.intake(.request(id: "r1", at: tables.now)).sends.first)
        tables.settle(first, .unknown(.workerLost))
        tables.now = tables.now + .seconds(60)
        let second = try #require(tables.intake(.request(id: "r2", offset: 1, at: tables.now)).sends.first)
        tables.intake(.request(id: "r3", offset: 2, at: tables.now))
        let late = SendResult(send: first.reference, disposition: .sent, attempts: 1, attempt: nil)
        let changes = OutcomeDecision.settle(
            [late],
            late: [late.send.claim],
            verifications: tables.verifications,
            now: tables.now,
            source: DecisionTables.source
        )
        #expect(changes.events.map(\.requestID) == ["r1"])
        #expect(tables.settle(second, .sent).events.map(\.requestID) == ["r2", "r3"])
    }

    @Test func `a send that surely never left gives the person its place back`() throws {
        var tables = DecisionTables()
        let claim = try #require(tables.intake(.request(id: "r1", at: tables.now)).sends.first)
        tables.settle(claim, .failed(.providerUnavailable))
        let again = try #require(tables.intake(.request(id: "r2", offset: 1, at: tables.now)).sends.first)
        #expect(again.reference.number == 1)
        #expect(again.reference.verificationID == claim.reference.verificationID)
        #expect(again.code == claim.code)
    }

    @Test func `other purposes, recipients and tenants have slots of their own`() throws {
        var tables = DecisionTables()
        #expect(tables.intake(.request(id: "r1", at: tables.now)).sends.count == 1)
        #expect(tables.intake(.request(id: "r2", purpose: "sign_up", offset: 1, at: tables.now)).sends.count == 1)
        let other = InboundRecord.request(id: "r3", phoneNumber: "+4915123456780", offset: 2, at: tables.now)
        #expect(tables.intake(other).sends.count == 1)
        #expect(tables.intake(.request(id: "r4", offset: 3, at: tables.now)).sends.isEmpty)
    }
}

extension DecisionTables {
    /// The hash that a verifier computes from the secret of a claim.
    func codeHash(of claim: ClaimedSend, _ verification: StoredVerification) -> [UInt8]? {
        hash(of: claim.credential.secret, verification)
    }
}
