// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

@Suite struct EventsTests {
    static let number = "+4915123456789"
    static let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    private static func names(_ object: JSONObject?) -> [String] { object?.members.map(\.name) ?? [] }

    private static func header(_ name: String, of record: OutboxRecord) -> String? {
        record.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func request(_ more: String = "", offset: Int64 = 0) -> InboundRecord {
        let plain = InboundRecord.request(id: "r1", phoneNumber: number, offset: offset, at: .test, more: more)
        return InboundRecord(
            topic: plain.topic,
            partition: plain.partition,
            offset: plain.offset,
            timestamp: plain.timestamp,
            key: Array(number.utf8),
            value: plain.value,
            headers: [RecordField("traceparent", trace)]
        )
    }

    private func sent(_ disposition: SendDisposition = .sent) throws -> (claim: ClaimedSend, record: OutboxRecord) {
        var tables = DecisionTables()
        let claim = try #require(tables.intake(Self.request()).sends.first)
        return (claim, try #require(tables.settle(claim, disposition).outbox.first))
    }

    @Test func `an event of a send has every field in its order`() throws {
        let (claim, record) = try sent()
        let event = try #require(EventsView(record))
        #expect(
            Self.names(event.object) == [
                "verificationId", "requestId", "tenant", "channel", "purpose", "sequence", "status", "rule",
                "recipient", "send", "code", "resendAfter", "expiresAt", "sendsLeft", "fictional", "policyVersion",
                "occurredAt",
            ]
        )
        #expect(Self.names(event.object("recipient")) == ["masked", "region", "fingerprint"])
        #expect(
            Self.names(event.object("send")) == [
                "id", "number", "max", "provider", "providerMessageId", "segments", "encoding",
            ]
        )
        #expect(Self.names(event.object("code")) == ["length", "generation"])
        #expect(event.text("tenant") == "default")
        #expect(event.text("channel") == "sms")
        #expect(event.text("purpose") == "sign_in")
        #expect(event.text("policyVersion") == "test.1")
        #expect(event.object("recipient")?.text("masked") == "+4********6789")
        #expect(event.object("recipient")?.text("region") == "DE")
        #expect(
            event.object("recipient")?.text("fingerprint")
                == hexadecimal(CodeKeys.test.fingerprint(of: claim.recipient))
        )
    }

    @Test func `a failed send has its reason and the provider's code`() throws {
        let record = try sent(.failed(.providerRefused)).record
        let event = try #require(EventsView(record))
        #expect(event.reason == "provider_refused")
        #expect(event.object("send")?.text("errorCode") == "30001")
        #expect(event.object("send")?["providerMessageId"] == nil)
    }

    @Test func `a refusal has neither verification nor send nor code`() throws {
        var tables = DecisionTables(numbers: FixedNumbers(region: "RU"))
        let record = try #require(tables.intake(Self.request()).outbox.first)
        let event = try #require(EventsView(record))
        #expect(
            Self.names(event.object) == [
                "requestId", "tenant", "channel", "purpose", "sequence", "status", "reason", "rule", "recipient",
                "fictional", "policyVersion", "occurredAt",
            ]
        )
        #expect(event.sequence == 1)
        #expect(event.object("recipient")?.text("region") == "RU")
        #expect(record.key == Array("r1".utf8))
        #expect(Self.header("ce_subject", of: record) == "r1")
        #expect(Self.header("ce_requestid", of: record) == "r1")
    }

    @Test func `a refusal of the shape tells what was readable and the field`() throws {
        var tables = DecisionTables()
        let text = #"{"requestId":"r1","purpose":"nothing","recipient":{"phoneNumber":"\#(Self.number)"}}"#
        let record = try #require(tables.intake(.raw(text, at: .test)).outbox.first)
        let event = try #require(EventsView(record))
        #expect(
            Self.names(event.object) == [
                "requestId", "tenant", "channel", "sequence", "status", "reason", "rule", "field", "fictional",
                "policyVersion", "occurredAt",
            ]
        )
        #expect(event.text("field") == "purpose")
        #expect(event.rule == "shape.purpose")
    }

    @Test func `an event is a CloudEvent in binary mode in its verification's stream`() throws {
        let (claim, record) = try sent()
        let id = claim.reference.verificationID
        #expect(
            record.headers.map(\.name) == [
                "ce_specversion", "ce_id", "ce_source", "ce_type", "ce_time", "ce_subject", "ce_requestid",
                "content-type", "traceparent",
            ]
        )
        #expect(Self.header("ce_specversion", of: record) == "1.0")
        #expect(Self.header("ce_id", of: record) == "\(id)-1")
        #expect(Self.header("ce_source", of: record) == "/test")
        #expect(Self.header("ce_type", of: record) == "com.codecourier.verification.delivery.v1")
        #expect(Self.header("ce_time", of: record) == "2026-11-20T12:00:00.000Z")
        #expect(Self.header("ce_subject", of: record) == id.description)
        #expect(Self.header("ce_requestid", of: record) == "r1")
        #expect(Self.header("content-type", of: record) == "application/json")
        #expect(Self.header("traceparent", of: record) == Self.trace)
        #expect(record.key == Array(id.description.utf8))
        #expect(record.stream == id.uuid)
        #expect(record.sequence == 1)
        #expect(!record.isDeadLetter)
    }

    @Test func `an event repeats the subject of its request, and has none where that has none`() throws {
        var tables = DecisionTables()
        let claim = try #require(tables.intake(Self.request(#","subject":"user-1""#)).sends.first)
        var records = tables.settle(claim, .sent).outbox
        records += tables.intake(.request(id: "r2", offset: 1, at: .test, more: #","subject":"user-2""#)).outbox
        records += tables.intake(.request(id: "r3", offset: 2, at: .test)).outbox
        records += tables.intake(Self.request(#","subject":"user-1""#, offset: 3)).outbox
        tables.now = tables.now + .seconds(3600)
        records += tables.expire()
        #expect(records.map { EventsView($0)?.status } == ["sent", "suppressed", "suppressed", "sent", "expired"])
        #expect(records.map { EventsView($0)?.text("subject") } == ["user-1", "user-2", nil, "user-1", "user-1"])
    }

    @Test(
        arguments: [
            (#","subject":"user-1","purpose":"sign_in""#, "user-1"),
            (#","subject":"user-1","deadline":"2026-11-20T11:59:59Z","purpose":"sign_in""#, "user-1"),
            (#","subject":"user-1","tenant":"nobody","purpose":"sign_in""#, "user-1"),
            (#","subject":"user-1","purpose":"nothing""#, "user-1"),
            (#","subject":7,"purpose":"sign_in""#, nil),
            (#","subject":"","purpose":"sign_in""#, nil),
        ] as [(String, String?)]
    )
    func `a decision without a verification has the subject that is valid`(more: String, subject: String?) throws {
        var tables = DecisionTables(numbers: FixedNumbers(region: "RU"))
        let text = #"{"requestId":"r1","recipient":{"phoneNumber":"\#(Self.number)"}\#(more)}"#
        let event = try #require(tables.intake(.raw(text, at: .test)).events.first)
        #expect(event.verificationID == nil)
        #expect(event.text("subject") == subject)
    }

    @Test func `no event holds the number or the code`() throws {
        let dispositions: [SendDisposition] = [
            .sent, .failed(.providerRefused), .failed(.providerUnavailable), .failed(.fraudBlocked),
            .failed(.optedOut), .unknown(.timeout),
            .unknown(.workerLost), .expiredUnsent,
        ]
        for disposition in dispositions {
            var tables = DecisionTables()
            let claim = try #require(tables.intake(Self.request()).sends.first)
            var records = tables.intake(.request(id: "r2", offset: 1, at: .test)).outbox
            records += tables.settle(claim, disposition).outbox
            records += tables.intake(Self.request(offset: 2)).outbox
            records += tables.intake(.request(id: "r1", phoneNumber: "+4915123456780", offset: 3, at: .test)).outbox
            tables.now = tables.now + .seconds(3600)
            records += tables.expire()
            #expect(records.count == 6, "the second request gets the outcome, too")
            for record in records {
                let text = String(decoding: record.value ?? [], as: UTF8.self)
                let headers = record.headers.map { String(decoding: $0.value ?? [], as: UTF8.self) }.joined(
                    separator: " "
                )
                for secret in ["15123456789", "15123456780", "5123456"] {
                    #expect(!text.contains(secret) && !headers.contains(secret))
                }
                #expect(!text.contains("\"\(claim.code.digits)\""))
                #expect(!headers.contains(" \(claim.code.digits) "))
            }
        }
    }

    @Test func `the id of a refusal follows from the record and nothing else`() throws {
        func id(_ record: InboundRecord, at now: Timestamp = .test) throws -> String {
            var tables = DecisionTables(numbers: FixedNumbers(region: "RU"))
            tables.now = now
            let refusal = try #require(tables.intake(record).outbox.first)
            return try #require(Self.header("ce_id", of: refusal))
        }
        let first = try id(Self.request())
        #expect(try id(Self.request()) == first)
        #expect(try id(Self.request(), at: .test + .seconds(9)) == first)
        #expect(try id(Self.request(offset: 1)) != first)
        #expect(try id(.request(id: "r1", partition: 1, at: .test)) != first)
        #expect(try id(.request(id: "r2", at: .test)) != first)
        let uuid = try #require(UUIDValue(first.dropLast(2)))
        #expect(first.hasSuffix("-1"))
        #expect(uuid.value >> 76 & 0xf == 8)
        #expect(uuid.value >> 62 & 0x3 == 2)
    }

    @Test func `hexadecimal digits are in lower case and two for each byte`() {
        #expect(hexadecimal([]) == "")
        #expect(hexadecimal([0x00, 0x0f, 0xa0, 0xff]) == "000fa0ff")
    }
}
