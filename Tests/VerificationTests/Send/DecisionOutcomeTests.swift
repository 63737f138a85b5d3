// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

/// Tests the effect of an outcome on its verification, and the event of it.
@Suite struct DecisionOutcomeTests {
    struct Case: Sendable {
        let disposition: SendDisposition
        let status: String
        let reason: String?

        /// True when the outcome restores the person's send count and resend window.
        let isRefunded: Bool
        let sendState: String
    }

    static let cases: [Case] = [
        Case(disposition: .sent, status: "sent", reason: nil, isRefunded: false, sendState: "sent"),
        Case(
            disposition: .failed(.providerRefused),
            status: "failed",
            reason: "provider_refused",
            isRefunded: true,
            sendState: "failed"
        ),
        Case(
            disposition: .failed(.fraudBlocked),
            status: "failed",
            reason: "fraud_blocked_by_provider",
            isRefunded: true,
            sendState: "failed"
        ),
        Case(
            disposition: .failed(.providerUnavailable),
            status: "failed",
            reason: "provider_unavailable",
            isRefunded: true,
            sendState: "failed"
        ),
        Case(
            disposition: .unknown(.timeout),
            status: "unknown",
            reason: "timeout",
            isRefunded: false,
            sendState: "unknown"
        ),
        Case(
            disposition: .unknown(.workerLost),
            status: "unknown",
            reason: "worker_lost",
            isRefunded: false,
            sendState: "unknown"
        ),
        Case(
            disposition: .expiredUnsent,
            status: "expired_unsent",
            reason: "deadline",
            isRefunded: true,
            sendState: "failed"
        ),
    ]

    /// A first send, settled eight seconds after its claim.
    private func claimed(for time: Duration = .seconds(8)) throws -> (tables: DecisionTables, claim: ClaimedSend) {
        var tables = DecisionTables()
        let claim = try #require(tables.intake(.request(id: "r1", at: tables.now)).sends.first)
        tables.now = tables.now + time
        return (tables, claim)
    }

    @Test(arguments: cases.indices)
    func `every outcome has its status, its reason and its price`(index: Int) throws {
        let expected = Self.cases[index]
        var (tables, claim) = try claimed()
        let changes = tables.settle(claim, expected.disposition)
        let row = try #require(tables.verifications[claim.reference.verificationID])
        let event = try #require(changes.events.first)

        #expect(expected.disposition.sendState == expected.sendState)
        #expect(changes.outbox.count == 1)
        #expect(event.status == expected.status)
        #expect(event.reason == expected.reason)
        #expect(event.sequence == 1)
        #expect(event.requestID == "r1")
        #expect(event.sendsLeft == (expected.isRefunded ? 5 : 4))
        #expect(event.text("occurredAt") == "2026-11-20T12:00:08.000Z")
        #expect(
            event.text("resendAfter") == (expected.isRefunded ? "2026-11-20T12:00:08.000Z" : "2026-11-20T12:01:08.000Z")
        )
        #expect(row.status?.rawValue == expected.status)
        #expect(!row.sendOpen)
        #expect(row.sendsUsed == (expected.isRefunded ? 0 : 1))
    }

    @Test(arguments: cases.indices)
    func `only a first send that left begins the code's validity`(index: Int) throws {
        let disposition = Self.cases[index].disposition
        var (tables, claim) = try claimed()
        tables.settle(claim, disposition)
        let row = try #require(tables.verifications[claim.reference.verificationID])
        #expect(row.expiresAt == .test + (disposition == .sent ? .seconds(608) : .seconds(600)))
    }

    @Test func `a send that repeats the code leaves its validity alone`() throws {
        var (tables, claim) = try claimed()
        tables.settle(claim, .sent)
        let end = try #require(tables.verifications[claim.reference.verificationID]).expiresAt
        tables.now = tables.now + .seconds(60)
        let again = try #require(tables.intake(.request(id: "r2", offset: 1, at: tables.now)).sends.first)
        tables.now = tables.now + .seconds(5)
        let event = try #require(tables.settle(again, .sent).events.first)
        let row = try #require(tables.verifications[claim.reference.verificationID])

        #expect(row.expiresAt == end)
        #expect(row.resendAfter == tables.now + .seconds(120))
        #expect(event.requestID == "r2")
        #expect(event.sequence == 2)
    }

    @Test(arguments: [StoredVerification.State.approved, .locked, .expired, .cancelled])
    func `an outcome after the end is told and moves no end`(state: StoredVerification.State) throws {
        var (tables, claim) = try claimed()
        let id = claim.reference.verificationID
        tables.verifications[id]?.state = state
        let changes = tables.settle(claim, .sent)
        let row = try #require(tables.verifications[id])

        #expect(row.state == state)
        #expect(row.expiresAt == .test + .seconds(600))
        #expect(!row.sendOpen)
        #expect(changes.events.first?.status == "sent")
    }

    @Test func `a send that waits beyond four seconds is told once, and settles nothing`() throws {
        var (tables, claim) = try claimed(for: .zero)
        let before = try #require(tables.verifications[claim.reference.verificationID])
        let first = tables.settle(claim, .retry(after: .seconds(1)))
        #expect(first.outbox.isEmpty && first.verifications.isEmpty, "the next attempt is near")
        #expect(SendDisposition.retry(after: .seconds(1)).sendState == "pending")

        tables.now = tables.now + .seconds(2)
        let second = try #require(tables.sweep().claims.first)
        let changes = tables.settle(second, .retry(after: .seconds(2)))
        let event = try #require(changes.events.first)
        #expect(changes.events.count == 1)
        #expect(event.requestID == claim.reference.requestID)
        #expect(event.status == "suppressed" && event.reason == "send_pending" && event.rule == "routes")
        #expect(event.text("retryAfter") == (Timestamp.test + .seconds(60)).rfc3339)
        #expect(event.object("send")?.text("errorCode") == "30001")
        var after = try #require(tables.verifications[before.id])
        #expect(after.sequence == 1 && after.sendOpen && after.status == nil)
        after.sequence = before.sequence
        #expect(after == before)

        // Later claims say nothing new.
        tables.now = tables.now + .seconds(3)
        let third = try #require(tables.sweep().claims.first)
        #expect(tables.settle(third, .retry(after: .seconds(10))).outbox.isEmpty)
        tables.now = tables.now + .seconds(11)
        let last = try #require(tables.sweep().claims.first)
        #expect(tables.settle(last, .sent).events.map(\.sequence) == [2])
    }

    @Test func `a long wait is told at its beginning, also after a first attempt that took long`() throws {
        var (tables, claim) = try claimed(for: .zero)
        var slow = tables
        #expect(tables.settle(claim, .retry(after: .seconds(4))).events.map(\.reason) == ["send_pending"])
        slow.now = slow.now + .seconds(10)
        #expect(slow.settle(claim, .retry(after: .seconds(1))).events.map(\.reason) == ["send_pending"])
    }

    @Test(arguments: [StoredVerification.State.approved, .locked, .cancelled])
    func `nothing is pending for an ended verification, nor when a claim is handed back`(
        state: StoredVerification.State
    ) throws {
        var (tables, claim) = try claimed()
        var ended = tables
        ended.verifications[claim.reference.verificationID]?.state = state
        #expect(ended.settle(claim, .retry(after: .seconds(5))).outbox.isEmpty)
        #expect(tables.settle(claim, .retry(after: .zero)).outbox.isEmpty)
    }

    @Test func `an outcome whose verification is gone has no event`() throws {
        let (_, claim) = try claimed()
        let result = SendResult(send: claim.reference, disposition: .sent, attempts: 1, attempt: nil)
        let changes = OutcomeDecision.settle([result], verifications: [:], now: .test, source: "/test")
        #expect(changes.outbox.isEmpty)
        #expect(changes.verifications.isEmpty)
    }

    @Test func `refunds never go below no send`() throws {
        var (tables, claim) = try claimed()
        tables.verifications[claim.reference.verificationID]?.sendsUsed = 0
        tables.settle(claim, .expiredUnsent)
        #expect(tables.verifications[claim.reference.verificationID]?.sendsUsed == 0)
    }

    @Test func `the event names the send and its provider`() throws {
        var (tables, claim) = try claimed()
        let event = try #require(tables.settle(claim, .sent).events.first)
        let send = try #require(event.object("send"))
        #expect(send.text("id") == claim.id.description)
        #expect(send.text("provider") == "main")
        #expect(send.text("providerMessageId") == "SM1")
        #expect(send.text("encoding") == "GSM-7")
        #expect(send["errorCode"] == nil)
        #expect(event.verificationID == claim.reference.verificationID.description)
    }
}
