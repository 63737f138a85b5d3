// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing

@testable import Verification

/// Tests redelivered records and repeated request ids: one request has one decision.
@Suite struct DecisionRepeatTests {
    @Test func `the same record again changes nothing`() throws {
        var tables = DecisionTables()
        let record = InboundRecord.request(id: "r1", offset: 5, at: tables.now)
        let first = tables.intake(record, record)
        #expect(first.sends.count == 1)
        #expect(first.outbox.isEmpty)
        let again = tables.intake(record)
        #expect(again.sends.isEmpty)
        #expect(again.outbox.isEmpty)
        #expect(again.updatedVerifications.isEmpty)
    }

    @Test func `a request's id is known as long as the verification that it began`() throws {
        var tables = DecisionTables { $0.code.validity = .seconds(86_400) }
        let first = tables.intake(.request(id: "r1", offset: 5, at: tables.now))
        tables.forgetRequests()
        tables.now = tables.now + .seconds(7200)
        let again = tables.intake(.request(id: "r1", offset: 9, at: tables.now))
        #expect(again.sends.isEmpty)
        #expect(again.events.map(\.reason) == ["duplicate_request"])
        #expect(again.updatedVerifications.map(\.id) == first.insertedVerifications.map(\.id))
        #expect(
            tables.intake(.request(id: "r2", offset: 10, at: tables.now)).outbox.count == 1,
            "another id is another one"
        )
    }

    @Test func `an earlier record of the same partition changes nothing`() throws {
        var tables = DecisionTables()
        tables.intake(.request(id: "r1", offset: 5, at: tables.now))
        tables.intake(.request(id: "r1", offset: 9, at: tables.now))
        #expect(tables.intake(.request(id: "r1", offset: 5, at: tables.now)).outbox.isEmpty)
        #expect(tables.intake(.request(id: "r1", offset: 9, at: tables.now)).outbox.isEmpty)
        #expect(tables.intake(.request(id: "r1", offset: 9, partition: 1, at: tables.now)).outbox.count == 1)
    }

    @Test(arguments: [(Int64(5), 1), (2, 1), (5, -3_600_000)])
    func `a repeat in a topic made anew is answered`(offset: Int64, later: Int) throws {
        var tables = DecisionTables()
        tables.intake(.request(id: "r1", offset: 5, at: tables.now))
        let repeated = InboundRecord.request(id: "r1", offset: offset, at: tables.now + .milliseconds(later))
        let event = try #require(tables.intake(repeated).events.first)
        #expect(event.reason == "duplicate_request")
        #expect(tables.intake(repeated).outbox.isEmpty, "and once only")
        let next = InboundRecord.request(id: "r1", offset: offset + 1, at: repeated.timestamp ?? .test)
        #expect(tables.intake(next).outbox.count == 1)
    }

    /// Arguments: the row's newest offset and its time, all places of the row, and the result for a record at offset 5.
    @Test(
        arguments: [
            (5, nil, nil, true), (9, nil, nil, true), (4, nil, nil, false), (5, 7, nil, false), (9, 7, nil, false),
            (9, 7, "T/0/9/7/9000000000000", true), (9, 7, "T/0/9/7/", true), (5, 7, "T/0/5/7/9000000000000", false),
            (9, 7, "T/1/9/7/9000000000000", false), (9, 7, "1/1/9/7/7 T/0/5//", true), (5, nil, "no place", true),
        ] as [(Int64, Int64?, String?, Bool)]
    )
    func `a place without a time is compared by its offset alone`(
        offset: Int64,
        time: Int64?,
        places: String?,
        isSeen: Bool
    ) {
        let record = RecordPlace(.request(id: "r1", offset: 5, at: .test))
        var known = KnownRequest(
            place: RecordPlace(topic: record.topic, partition: 0, offset: offset, time: time),
            places: places?.replacing("T", with: "\(record.topic)"),
            digest: UUIDValue(0)
        )
        #expect(known.hasSeen(record) == isSeen)
        known.see(record)
        #expect(known.hasSeen(record))
        let again = KnownRequest(place: known.place, places: known.places, digest: UUIDValue(0))
        #expect(again == known)
    }

    @Test func `a record of a clock that was ahead is the same record, whatever came behind it`() {
        var tables = DecisionTables()
        let times = [(5, 2), (9, -60), (12, -30)].map { offset, seconds in
            InboundRecord.request(id: "r1", offset: offset, at: tables.now + .seconds(seconds))
        }
        for record in times { #expect(tables.intake(record).outbox.isEmpty == (record.offset == 5)) }
        for record in times { #expect(tables.intake(record).outbox.isEmpty, "\(record)") }
        let anew = InboundRecord.request(id: "r1", offset: 5, at: tables.now + .seconds(3))
        #expect(tables.intake(anew).outbox.count == 1)
    }

    @Test(arguments: [true, false])
    func `a repeated request id is told the same verification and sends nothing`(inOneBatch: Bool) throws {
        var tables = DecisionTables()
        let first = InboundRecord.request(id: "r1", offset: 1, at: tables.now)
        let second = InboundRecord.request(id: "r1", offset: 2, at: tables.now)
        let claim: ClaimedSend
        let event: EventsView
        if inOneBatch {
            let changes = tables.intake(first, second)
            claim = try #require(changes.sends.first)
            event = try #require(changes.events.first)
            #expect(changes.sends.count == 1)
        } else {
            claim = try #require(tables.intake(first).sends.first)
            let changes = tables.intake(second)
            event = try #require(changes.events.first)
            #expect(changes.sends.isEmpty)
        }
        #expect(event.reason == "duplicate_request")
        #expect(event.requestID == "r1")
        #expect(event.verificationID == claim.reference.verificationID.description)
    }

    @Test func `a repeated request id is told what has become of its message`() throws {
        var tables = DecisionTables()
        let claim = try #require(tables.intake(.request(id: "r1", offset: 1, at: tables.now)).sends.first)
        tables.settle(claim, .sent)
        tables.now = tables.now + .seconds(3600)
        let event = try #require(tables.intake(.request(id: "r1", offset: 2, at: tables.now)).events.first)
        #expect(event.status == "sent")
        #expect(event.reason == "duplicate_request")
        #expect(event.sequence == 2)
    }

    @Test(
        arguments: [
            (.sent, nil), (.failed(.providerRefused), "provider_refused"), (.failed(.noRoute), "no_route"),
            (.unknown(.workerLost), "worker_lost"), (.expiredUnsent, "deadline"),
        ] as [(SendDisposition, String?)]
    )
    func `a repeat has the reason of the outcome that it repeats`(end: SendDisposition, reason: String?) throws {
        var tables = DecisionTables()
        let claim = try #require(tables.intake(.request(id: "r1", offset: 1, at: tables.now)).sends.first)
        let first = try #require(tables.intake(.request(id: "r1", offset: 2, at: tables.now)).events.first)
        #expect(first.text("originalReason") == nil, "there is no outcome yet")
        let outcome = try #require(tables.settle(claim, end).events.first)
        let again = try #require(tables.intake(.request(id: "r1", offset: 3, at: tables.now)).events.first)
        #expect(again.status == outcome.status && again.reason == "duplicate_request")
        #expect(again.text("originalReason") == reason && outcome.reason == reason)
        tables.now = tables.now + .seconds(3600)
        _ = tables.expire()
        let late = try #require(tables.intake(.request(id: "r1", offset: 4, at: tables.now)).events.first)
        #expect(late.status == "expired" && late.text("originalReason") == nil)
    }

    @Test(arguments: [true, false])
    func `the same request id with another payload is a conflict`(inOneBatch: Bool) throws {
        var tables = DecisionTables()
        let first = InboundRecord.request(id: "r1", offset: 1, at: tables.now)
        let other = InboundRecord.request(id: "r1", phoneNumber: "+4915123456780", offset: 2, at: tables.now)
        let changes: IntakeChanges
        if inOneBatch {
            changes = tables.intake(first, other)
            #expect(changes.sends.count == 1)
        } else {
            tables.intake(first)
            changes = tables.intake(other)
            #expect(changes.sends.isEmpty)
        }
        #expect(changes.outbox.count == 1)
        let event = try #require(changes.events.first)
        #expect(event.status == "rejected")
        #expect(event.reason == "request_id_conflict")
        #expect(event.verificationID == nil)

        // A conflict changes neither: the id keeps its verification, and the second number's slot stays free.
        let repeated = tables.intake(.request(id: "r1", offset: 3, at: tables.now))
        #expect(repeated.events.first?.reason == "duplicate_request")
        let fresh = InboundRecord.request(id: "r2", phoneNumber: "+4915123456780", offset: 4, at: tables.now)
        #expect(tables.intake(fresh).sends.count == 1)
    }

    @Test func `the same request id of another tenant is another request`() throws {
        var tables = DecisionTables()
        tables.intake(.request(id: "r1", offset: 1, at: tables.now))
        let other = tables.intake(.request(id: "r1", offset: 2, at: tables.now, more: #","tenant":"nobody""#))
        #expect(other.events.first?.reason == "unknown_tenant")
    }

    @Test(arguments: [true, false])
    func `a refused request that comes again is answered with its status again`(inOneBatch: Bool) throws {
        var tables = DecisionTables(numbers: FixedNumbers(region: "RU"))
        let first = InboundRecord.request(id: "r1", offset: 1, at: tables.now)
        let second = InboundRecord.request(id: "r1", offset: 2, at: tables.now)
        let events =
            inOneBatch
            ? tables.intake(first, second).events : tables.intake(first).events + tables.intake(second).events

        #expect(events.map(\.status) == ["rejected", "rejected"])
        #expect(events.map(\.reason) == ["region_not_allowed", "duplicate_request"])
        #expect(events.first?.rule?.isEmpty == false)
        #expect(events.last?.rule == events.first?.rule)
        #expect(events.map { $0.text("originalReason") } == [nil, "region_not_allowed"])
    }

    @Test func `a request that came too late stays unsent however often it comes`() throws {
        var tables = DecisionTables()
        tables.intake(.request(id: "r1", offset: 1, at: tables.now - .seconds(301)))
        let again = tables.intake(.request(id: "r1", offset: 2, at: tables.now))
        #expect(again.sends.isEmpty)
        #expect(again.events.first?.status == "expired_unsent")
        #expect(again.events.first?.reason == "duplicate_request")
        #expect(again.events.first?.text("originalReason") == "stale_request")
    }

    @Test func `a suppressed request that comes again is told the verification it was told before`() throws {
        var tables = DecisionTables()
        let claim = try #require(tables.intake(.request(id: "r1", offset: 1, at: tables.now)).sends.first)
        tables.intake(.request(id: "r2", offset: 2, at: tables.now))
        let again = try #require(tables.intake(.request(id: "r2", offset: 3, at: tables.now)).events.first)
        #expect(again.reason == "duplicate_request")
        #expect(again.verificationID == claim.reference.verificationID.description)
        #expect(again.sequence == 2)
        #expect(again.text("originalReason") == "send_pending")
        tables.settle(claim, .failed(.providerRefused))
        let late = try #require(tables.intake(.request(id: "r2", offset: 4, at: tables.now)).events.first)
        #expect(late.status == "failed" && late.text("originalReason") == "provider_refused")
    }

    @Test func `several recipients of one batch do not disturb each other`() throws {
        var tables = DecisionTables()
        let numbers = (0..<5).map { "+491512345678\($0)" }
        var records: [InboundRecord] = []
        for round in 0..<3 {
            for (index, number) in numbers.enumerated() {
                let offset = Int64(round * numbers.count + index)
                records.append(.request(id: "r\(offset)", phoneNumber: number, offset: offset, at: tables.now))
            }
        }
        let changes = tables.intake(tables.candidates(records))

        #expect(changes.sends.map(\.reference.requestID) == ["r0", "r1", "r2", "r3", "r4"])
        #expect(changes.insertedVerifications.count == 5)
        #expect(changes.events.map(\.reason) == Array(repeating: "send_pending", count: 10))
        for (index, event) in changes.events.enumerated() {
            let claim = changes.sends[index % 5]
            #expect(event.verificationID == claim.reference.verificationID.description)
            #expect(event.sequence == Int64(index / 5 + 1))
        }
        for claim in changes.sends {
            let verification = try #require(tables.verifications[claim.reference.verificationID])
            #expect(verification.codeHash == tables.codeHash(of: claim, verification))
        }
    }
}
