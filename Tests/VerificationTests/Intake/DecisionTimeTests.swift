// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

/// Tests the rules about time, and their order among the other rules.
@Suite struct DecisionTimeTests {
    static let oldest = Timestamp.test - .seconds(300)

    @Test(arguments: [
        (oldest + .microseconds(1), true), (oldest, true), (oldest - .microseconds(1), false),
        (Timestamp(microseconds: 0), false),
    ])
    func `a request is sent until it is older than the maximum age`(time: Timestamp, isSent: Bool) throws {
        var tables = DecisionTables()
        let changes = tables.intake(.request(id: "r1", at: time))

        #expect(changes.sends.count == (isSent ? 1 : 0))
        #expect(changes.events.first?.status == (isSent ? nil : "expired_unsent"))
        #expect(changes.events.first?.reason == (isSent ? nil : "stale_request"))
        #expect(changes.insertedVerifications.count == (isSent ? 1 : 0))
    }

    @Test(arguments: [
        ("2026-11-20T12:00:00.000001Z", true), ("2026-11-20T12:00:00Z", false), ("2026-11-20T11:59:59.999999Z", false),
        ("1970-01-01T00:00:00Z", false),
    ])
    func `a request is sent until its deadline`(deadline: String, isSent: Bool) throws {
        var tables = DecisionTables()
        let changes = tables.intake(.request(id: "r1", at: tables.now, more: #","deadline":"\#(deadline)""#))

        #expect(changes.sends.count == (isSent ? 1 : 0))
        #expect(changes.events.first?.status == (isSent ? nil : "expired_unsent"))
        #expect(changes.events.first?.reason == (isSent ? nil : "deadline"))
        #expect(changes.events.first?.rule == (isSent ? nil : "time.deadline"))
    }

    @Test func `a send may leave until the first of the request's deadline, its age and the code's end`() throws {
        var tables = DecisionTables()
        let plain = try #require(tables.intake(.request(id: "r1", at: tables.now - .seconds(10))).sends.first)
        #expect(plain.deadline == .test + .seconds(290))

        let early = #","deadline":"2026-11-20T12:01:00Z""#
        let hurried = tables.intake(.request(id: "r2", purpose: "sign_up", at: tables.now, more: early))
        #expect(try #require(hurried.sends.first).deadline == .test + .seconds(60))

        var brief = DecisionTables { $0.code.validity = .seconds(90) }
        #expect(
            try #require(brief.intake(.request(id: "r1", at: brief.now)).sends.first).deadline == .test + .seconds(90)
        )
    }

    @Test func `a request too old to be sent leaves the live verification alone`() throws {
        var tables = DecisionTables()
        let claim = try #require(tables.intake(.request(id: "r1", at: tables.now)).sends.first)
        tables.settle(claim, .sent)
        let before = tables.verifications
        let late = tables.intake(.request(id: "r2", offset: 1, at: tables.now - .seconds(301)))

        #expect(late.events.first?.status == "expired_unsent")
        #expect(late.events.first?.verificationID == nil)
        #expect(tables.verifications == before)
    }

    @Test func `time is asked before the region`() throws {
        var tables = DecisionTables(numbers: FixedNumbers(region: "RU"))
        let changes = tables.intake(.request(id: "r1", at: tables.now - .seconds(301)))
        #expect(changes.events.first?.reason == "stale_request")
    }
}

/// Tests the rules that need no stored state.
@Suite struct DecisionRefusalTests {
    static let cases: [(numbers: FixedNumbers, more: String, reason: String?)] = [
        (FixedNumbers(), "", nil),
        (FixedNumbers(region: "RU"), "", "region_not_allowed"),
        (FixedNumbers(region: "XX"), "", "region_not_allowed"),
        (FixedNumbers(region: "IN"), "", "region_confirmed_only"),
        (FixedNumbers(isValid: false), "", "invalid_phone_number"),
        (FixedNumbers(region: "RU", isValid: false), "", "invalid_phone_number"),
        (FixedNumbers(), #","tenant":"nobody""#, "unknown_tenant"),
        (FixedNumbers(region: "RU"), #","tenant":"nobody""#, "unknown_tenant"),
        (FixedNumbers(), #","deadline":"!""#, "invalid_request"),
    ]

    @Test(arguments: cases.indices)
    func `the first rule that refuses is the one the event names`(index: Int) throws {
        let (numbers, more, reason) = Self.cases[index]
        var tables = DecisionTables(numbers: numbers)
        let changes = tables.intake(.request(id: "r1", at: tables.now, more: more))

        #expect(changes.sends.isEmpty == (reason != nil))
        #expect(changes.outbox.count == (reason == nil ? 0 : 1))
        #expect(changes.events.first?.reason == reason)
        if reason != nil {
            let event = try #require(changes.events.first)
            #expect(event.status == "rejected")
            #expect(event.verificationID == nil)
            #expect(event.rule?.isEmpty == false)
            #expect(changes.insertedVerifications.isEmpty)
        }
    }

    @Test(arguments: [
        "+49151234567890123", "4915123456789", "+0123456789", "+49 151 23456789", "+49151-2345678", "+4915123456١",
        "+1800FLOWERS", "", "+", "+4915\u{0}123456",
    ])
    func `a number that is no E164 is refused with its field`(number: String) throws {
        var tables = DecisionTables()
        let escaped = number.replacing("\u{0}", with: "\\u0000")
        let changes = tables.intake(.request(id: "r1", phoneNumber: escaped, at: tables.now))
        let event = try #require(changes.events.first)

        #expect(event.status == "rejected")
        #expect(event.reason == "invalid_phone_number")
        #expect(event.text("field") == "recipient.phoneNumber")
        #expect(changes.sends.isEmpty)
    }

    @Test func `a region is refused even while the slot is open`() throws {
        var tables = DecisionTables(numbers: FixedNumbers(region: "IN"))
        let confirmed = InboundRecord.raw(
            #"{"requestId":"r1","purpose":"sign_in","recipient":{"phoneNumber":"+911234567890","confirmed":true}}"#,
            at: tables.now
        )
        #expect(tables.intake(confirmed).sends.count == 1)
        let other = tables.intake(.request(id: "r2", phoneNumber: "+911234567890", offset: 1, at: tables.now))

        #expect(other.events.first?.status == "rejected")
        #expect(other.events.first?.reason == "region_confirmed_only")
        #expect(other.events.first?.verificationID == nil)
    }

    @Test func `a record that cannot be read is a dead letter and no decision`() throws {
        var tables = DecisionTables()
        let changes = tables.intake(.raw("{", offset: 3, at: tables.now))
        let letter = try #require(changes.outbox.first)

        #expect(letter.isDeadLetter)
        #expect(letter.value == Array("{".utf8))
        #expect(changes.sends.isEmpty)
        #expect(tables.intake(.raw("{", offset: 3, at: tables.now)).outbox.isEmpty)
        #expect(tables.intake(.raw("{", offset: 4, at: tables.now)).outbox.count == 1)
    }
}
