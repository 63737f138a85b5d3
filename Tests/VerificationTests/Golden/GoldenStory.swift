// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Verification

/// Makes each kind of event once, by the current decisions at a fixed time.
///
/// The random ids of a verification and of its send are replaced by those of the golden file.
struct GoldenStory {
    static let verificationID = "0193a5b0-1c40-7b11-9d22-33e44f556a66"
    static let sendID = "0193a5b0-1c40-7b11-9d22-33e44f556a77"
    private static let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    /// Cases from versions in which refused messages opened a window and counted as sends, and the refusal of a locked
    /// person named no verification.
    static let superseded: Set<String> = ["failed: refused", "failed: fraud", "rejected: locked"]

    /// Fields that events have had since later than v1's first: a case from before lacks them.
    static let later: Set<String> = ["ce_requestid", "retryAfter"]

    /// All other cases of `events.json`, in its order.
    private(set) var cases: [String] = []

    init() {
        settled([
            ("sent", .sent), ("failed: unavailable", .failed(.providerUnavailable)),
            ("unknown: timeout", .unknown(.timeout)),
            ("unknown: worker lost", .unknown(.workerLost)), ("expired_unsent of a verification", .expiredUnsent),
        ])
        undecided()
        repeated()
        refused()
        channels()
        ended()
        settled([
            ("failed: refused, no window", .failed(.providerRefused)),
            ("failed: fraud, no window", .failed(.fraudBlocked)), ("failed: no route", .failed(.noRoute)),
        ])
        sent([("sent: e-mail code", .email(id: "r1", actionCode: nil, at: .test))])
        waiting()
        refusedForNow()
    }

    private static var tables: DecisionTables {
        DecisionTables { tenant in
            tenant.routes.email = ["mailer"]
            tenant.routes.push = ["push"]
            tenant.testNumbers =
                PhoneNumber("+16505550123").map { [TestNumber(number: $0, code: "654321", until: nil)] } ?? []
        }
    }

    private static func request(
        _ id: String = "r1",
        offset: Int64 = 0,
        number: String = "+4915123456789",
        purpose: String = "sign_in",
        more: String = ""
    ) -> InboundRecord {
        let plain = InboundRecord.request(
            id: id,
            phoneNumber: number,
            purpose: purpose,
            offset: offset,
            at: .test,
            more: more
        )
        return InboundRecord(
            topic: plain.topic,
            partition: plain.partition,
            offset: offset,
            timestamp: plain.timestamp,
            key: nil,
            value: plain.value,
            headers: [RecordField("traceparent", trace)]
        )
    }

    /// Adds a case with the newest event of some published records.
    private mutating func note(_ name: String, _ records: [OutboxRecord], of claim: ClaimedSend? = nil) {
        guard let record = records.last(where: { !$0.isDeadLetter }) else { return }
        var headers = JSONWriter()
        headers.object { object in
            for header in record.headers {
                object.member(named: header.name, String(decoding: header.value ?? [], as: UTF8.self))
            }
        }
        let key = String(decoding: record.key ?? [], as: UTF8.self)
        var text = """
            {"name":\(JSONValue.quoted(name)),"key":\(JSONValue.quoted(key)),\
            "headers":\(String(decoding: headers.bytes, as: UTF8.self)),\
            "value":\(String(decoding: record.value ?? [], as: UTF8.self))}
            """
        if let reference = claim?.reference {
            text.replace(reference.verificationID.description, with: Self.verificationID)
            text.replace(reference.id.description, with: Self.sendID)
        }
        cases.append(text)
    }

    private mutating func settled(_ results: [(String, SendDisposition)]) {
        for (name, disposition) in results {
            var tables = Self.tables
            guard let claim = tables.intake(Self.request()).sends.first else { continue }
            note(name, tables.settle(claim, disposition).outbox, of: claim)
        }
    }

    /// Adds the cases of receipts.
    private mutating func undecided() {
        let receipts: [(String, Receipt.Status, UndeliveredReason?)] =
            [("delivered", .delivered, nil)]
            + UndeliveredReason.allCases.map { ("undelivered: \($0.rawValue)", .undelivered, $0) }
        for (name, status, reason) in receipts {
            var tables = Self.tables
            guard let claim = tables.intake(Self.request()).sends.first else { continue }
            _ = tables.settle(claim, .sent)
            let send = ReportedSend(
                reference: claim.reference,
                state: .sent,
                provider: "main",
                messageID: "SM1",
                segments: 1,
                encoding: "GSM-7",
                errorCode: nil
            )
            let receipt = Receipt(
                provider: "main",
                sendID: claim.id,
                providerMessageID: "SM1",
                status: status,
                reason: reason,
                errorCode: reason.map { _ in "30003" }
            )
            let changes = ReceiptDecision.settle(
                [ReceivedReceipt(receipt, in: Self.request())],
                sends: [send],
                verifications: tables.verifications,
                now: .test + .seconds(3),
                settings: .test { $0.source = DecisionTables.source }
            )
            note(name, changes.outbox, of: claim)
        }
    }

    private mutating func repeated() {
        var tables = Self.tables
        guard let claim = tables.intake(Self.request()).sends.first else { return }
        _ = tables.settle(claim, .sent)
        note("suppressed: resend window", tables.intake(Self.request("r2", offset: 1)).outbox, of: claim)
        note("sent: duplicate request", tables.intake(Self.request(offset: 2)).outbox, of: claim)
        let other = Self.request(offset: 3, number: "+4915123456780")
        note("rejected: request id conflict", tables.intake(other).outbox, of: claim)
    }

    private mutating func refused() {
        var abroad = DecisionTables(numbers: FixedNumbers(region: "RU"))
        note("rejected: region", abroad.intake(Self.request()).outbox)
        var landline = DecisionTables(numbers: FixedNumbers(type: .fixedLine))
        note("rejected: number type", landline.intake(Self.request()).outbox)
        var tables = Self.tables
        let text = #"{"requestId":"r1","purpose":"nothing","recipient":{"phoneNumber":"+4915123456789"}}"#
        note("rejected: field", tables.intake(.raw(text, at: .test)).outbox)
        let tenant = InboundRecord.request(id: "r1", offset: 1, at: .test, more: #","tenant":"nobody""#)
        note("rejected: unknown tenant", tables.intake(tenant).outbox)
        let old = InboundRecord.request(id: "r2", offset: 2, at: .test, more: #","requestedAt":"2026-11-20T11:00:00Z""#)
        note("expired_unsent: stale request", tables.intake(old).outbox)
        let late = InboundRecord.request(id: "r3", offset: 3, at: .test, more: #","deadline":"2026-11-20T11:59:59Z""#)
        note("expired_unsent: deadline", tables.intake(late).outbox)
    }

    private mutating func channels() {
        sent([
            ("sent: e-mail link", .email(id: "r1", at: .test)), ("sent: push", .push(id: "r1", at: .test)),
            ("sent: test number", Self.request(number: "+16505550123")),
        ])
    }

    private mutating func sent(_ records: [(String, InboundRecord)]) {
        for (name, record) in records {
            var tables = Self.tables
            guard let claim = tables.intake(record).sends.first else { continue }
            note(name, tables.settle(claim, .sent).outbox, of: claim)
        }
    }

    /// Adds the cases of a request that comes while an earlier message has not left, and of a repeat after its failure.
    private mutating func waiting() {
        let subject = #","subject":"user-1""#
        var tables = Self.tables
        guard let claim = tables.intake(Self.request(more: subject)).sends.first else { return }
        note("suppressed: send pending", tables.intake(Self.request("r2", offset: 1)).outbox, of: claim)
        let outcome = tables.settle(claim, .failed(.providerRefused)).outbox
        note("failed: with a subject", Array(outcome.prefix(1)), of: claim)
        note("failed: of a request that waits", outcome, of: claim)
        note("failed: duplicate request", tables.intake(Self.request(offset: 2, more: subject)).outbox, of: claim)
    }

    /// Adds the cases of refusals that end at a known time.
    private mutating func refusedForNow() {
        var tables = Self.tables
        guard let claim = tables.intake(Self.request()).sends.first else { return }
        _ = tables.settle(claim, .sent)
        for _ in 0..<5 { tables.guessWrong(claim.reference.verificationID) }
        tables.now = tables.now + .seconds(61)
        note("rejected: locked, by a verification", tables.intake(Self.request("r2", offset: 1)).outbox, of: claim)
        note("rejected: duplicate request", tables.intake(Self.request("r2", offset: 2)).outbox, of: claim)
        var limited = DecisionTables { $0.limits.perRecipient = [RateLimit(count: 1, per: .seconds(60))] }
        let other = Self.request("r2", offset: 1, purpose: "sign_up")
        note("rejected: quota", limited.intake(Self.request(), other).outbox)
    }

    private mutating func ended() {
        var tables = Self.tables
        guard let claim = tables.intake(Self.request()).sends.first else { return }
        _ = tables.settle(claim, .sent)
        tables.now = tables.now + .seconds(3600)
        note("expired", tables.expire(), of: claim)
    }
}
