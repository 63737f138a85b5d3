// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import KafkaClient
import TestTools
import Testing

extension Scenarios {
    @Suite struct BadInput {
        @Test func `requests are read in binary mode, in structured mode and bare`() async throws {
            try await TestFleet.with { fleet in
                _ = try await fleet.startWorker()
                let requests = Numbers.take(3).map { TestRequest(phoneNumber: $0) }
                fleet.watch(requests.map(\.phoneNumber))
                try await fleet.send([requests[0].binary, requests[1].structured, requests[2].bare])
                let events = try await fleet.events(of: requests.map(\.id))
                #expect(events.map(\.answer) == [Answer](repeating: Answer("sent"), count: 3))
                for request in requests { #expect(fleet.messages[request.phoneNumber]?.count == 1) }
            }
        }

        @Test func `a record that cannot be read is a dead letter as it was, and its neighbours are untouched`()
            async throws
        {
            try await TestFleet.with(partitions: 1) { fleet in
                _ = try await fleet.startWorker()
                let neighbours = Numbers.take(Unreadable.all.count).map { TestRequest(phoneNumber: $0) }
                fleet.watch(neighbours.map(\.phoneNumber))
                var records: [TestRecord] = []
                for (neighbour, unreadable) in zip(neighbours, Unreadable.all) {
                    records += [neighbour.binary, unreadable.record]
                }
                let places = try await fleet.send(records)
                let letters = try await fleet.deadLetters(Unreadable.all.count)
                #expect(letters.count == Unreadable.all.count)
                for (index, unreadable) in Unreadable.all.enumerated() {
                    let offset = places[2 * index + 1].offset
                    let letter = try #require(letters.first { $0.text("dead-letter-offset") == String(offset) })
                    expect(letter, unreadable, topic: fleet.topics.requests)
                }
                let events = try await fleet.events(of: neighbours.map(\.id))
                #expect(events.allSatisfy { $0.answer == Answer("sent") })
                #expect(try await fleet.allEvents().count == neighbours.count)
                #expect(fleet.sent.count == neighbours.count)
            }
        }

        @Test func `a request that breaks its contract is rejected, and the event names the field`() async throws {
            try await TestFleet.with(partitions: 1) { fleet in
                _ = try await fleet.startWorker()
                let neighbour = TestRequest(phoneNumber: Numbers.one())
                fleet.watch([neighbour.phoneNumber])
                var records = Refused.all.map { TestRecord(key: $0.id, value: Array($0.json.utf8)) }
                records.insert(neighbour.binary, at: records.count / 2)
                try await fleet.send(records)
                let events = try await fleet.events(of: Refused.all.map(\.id))
                #expect(events.count == Refused.all.count)
                for refused in Refused.all {
                    let event = try #require(events.first { $0.body.requestId == refused.id })
                    #expect(event.answer == Answer("rejected", refused.reason), "\(refused.id)")
                    #expect(event.body.field == refused.field, "\(refused.id)")
                    #expect(event.body.verificationId == nil)
                    #expect(event.record.key == Array(refused.id.utf8))
                    #expect(event.record.text("ce_subject") == refused.id)
                    #expect(event.record.text("ce_requestid") == refused.id)
                }
                #expect(try await fleet.event(of: neighbour).answer == Answer("sent"))
                #expect(fleet.sent.count == 1)
            }
        }

        private func expect(_ letter: ConsumerRecord, _ unreadable: Unreadable, topic: String) {
            let comment = "\(unreadable.reason)"
            #expect(letter.text("dead-letter-reason") == unreadable.reason)
            #expect(letter.text("dead-letter-topic") == topic)
            #expect(letter.text("dead-letter-partition") == "0")
            #expect(letter.text("dead-letter-id")?.isEmpty == false)
            #expect(letter.text("dead-letter-time")?.isEmpty == false)
            #expect(letter.value == unreadable.record.value, "\(comment)")
            #expect(letter.key == unreadable.record.key.map { Array($0.utf8) }, "\(comment)")
            #expect(Array(letter.headers.prefix(unreadable.record.headers.count)) == unreadable.record.headers)
            #expect(
                letter.headers.dropFirst(unreadable.record.headers.count).allSatisfy {
                    $0.name.hasPrefix("dead-letter-")
                }
            )
        }
    }
}

/// A record without a readable request id, which no event can answer.
private struct Unreadable {
    let reason: String
    let record: TestRecord

    static let all: [Unreadable] = [
        text("not_json", #"{"requestId": "half"#),
        text("not_json", ""),
        Unreadable(reason: "invalid_utf8", record: record(Array(#"{"requestId":""#.utf8) + [0xff, 0xfe])),
        Unreadable(reason: "tombstone", record: record(nil)),
        Unreadable(reason: "too_large", record: record([UInt8](repeating: UInt8(ascii: " "), count: 65_537))),
        text("too_deep", String(repeating: "[", count: 20_000)),
        text("duplicate_key", #"{"requestId":"one","requestId":"two"}"#),
        text("number_out_of_range", #"{"requestId":"one","client":{"age":1e999}}"#),
        text("not_an_object", #"["requestId"]"#),
        text("missing_request_id", #"{"purpose":"sign_in","recipient":{"phoneNumber":"+4915112345678"}}"#),
        text("invalid_request_id", #"{"requestId":"","purpose":"sign_in"}"#),
        text("invalid_request_id", #"{"requestId":7,"purpose":"sign_in"}"#),
        text("invalid_request_id", #"{"requestId":"\#(String(repeating: "x", count: 129))"}"#),
        Unreadable(
            reason: "invalid_cloudevent",
            record: TestRecord(
                key: "other",
                value: Array(#"{"requestId":"one"}"#.utf8),
                headers: [RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_type", "com.example.other")]
            )
        ),
        Unreadable(
            reason: "invalid_cloudevent",
            record: TestRecord(
                key: nil,
                value: Array(#"{"specversion":"1.0"}"#.utf8),
                headers: [
                    RecordHeader("content-type", "application/cloudevents+json"),
                    RecordHeader(name: "nothing", value: nil),
                ]
            )
        ),
    ]

    private static func text(_ reason: String, _ text: String) -> Unreadable {
        Unreadable(reason: reason, record: record(Array(text.utf8)))
    }

    private static func record(_ value: [UInt8]?) -> TestRecord {
        TestRecord(
            key: "key of a dead letter",
            value: value,
            headers: [RecordHeader("kept", "as it was"), RecordHeader("kept", "twice")]
        )
    }
}

/// A request that is rejected for an invalid field.
private struct Refused {
    let id: String
    let json: String
    let reason: String
    let field: String

    static let all: [Refused] = [
        refused("recipient.phoneNumber", "invalid_phone_number", recipient: #"{"phoneNumber":"0151 2345"}"#),
        refused("recipient.phoneNumber", "invalid_phone_number", recipient: #"{"phoneNumber":"+49151"}"#),
        refused("recipient", recipient: "[]"),
        refused("channel", more: #","channel":"fax""#),
        refused("purpose", purpose: #""dance""#),
        refused("tenant", more: #","tenant":"no spaces""#),
        refused("deadline", more: #","deadline":"soon""#),
        refused("actionCode.url", more: #","actionCode":{"url":"ftp://example.com"}"#),
        refused("subject", purpose: #""mfa_sign_in""#),
        refused("appVerification.score", more: #","appVerification":{"method":"recaptcha","score":1.5}"#),
        refused("requestedAt", more: #","requestedAt":"2999-01-01T00:00:00Z""#),
    ]

    private static func refused(
        _ field: String,
        _ reason: String = "invalid_request",
        purpose: String = #""sign_in""#,
        recipient: String = #"{"phoneNumber":"+4915112345678"}"#,
        more: String = ""
    ) -> Refused {
        let id = uniqueName("refused-\(field)-")
        let json = #"{"requestId":"\#(id)","purpose":\#(purpose),"recipient":\#(recipient)\#(more)}"#
        return Refused(id: id, json: json, reason: reason, field: field)
    }
}
