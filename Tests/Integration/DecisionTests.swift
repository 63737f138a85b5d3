// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Testing

extension Scenarios {
    @Suite struct Decisions {
        @Test func `a person who asks again within the window gets no second message`() async throws {
            try await TestFleet.with { fleet in
                _ = try await fleet.startWorker()
                let first = TestRequest(phoneNumber: Numbers.one())
                try await fleet.send(first)
                let sent = try await fleet.event(of: first)
                let again = TestRequest(phoneNumber: first.phoneNumber)
                try await fleet.send(again)
                let suppressed = try await fleet.event(of: again)
                #expect(suppressed.answer == Answer("suppressed", "resend_window"))
                #expect(suppressed.body.verificationId == sent.body.verificationId)
                #expect(suppressed.body.sequence == 2)
                #expect(suppressed.body.resendAfter == sent.body.resendAfter)

                var other = TestRequest(phoneNumber: first.phoneNumber)
                other.purpose = "sign_up"
                try await fleet.send(other)
                #expect(try await fleet.event(of: other).answer == Answer("sent"))
                #expect(fleet.messages[first.phoneNumber]?.count == 2)
            }
        }

        @Test func `a test number gets its fixed code, its faults and never a message`() async throws {
            let policy = """
                version: "test.1"
                tenants:
                  default:
                    appName: Acme
                    appVerification: off
                    regions: { allowlistOnly: { allowedRegions: [DE] } }
                    testNumbers:
                      - { number: "+16505550123", code: "654321" }
                      - { number: "+16505550124", code: "654322", fault: opted_out }
                      - { number: "+447700900125", code: "654323", fault: duplicate_receipt }
                    routes: { default: [main] }
                """
            try await TestFleet.with(policy: policy) { fleet in
                _ = try await fleet.startWorker()
                let plain = TestRequest(phoneNumber: "+16505550123")
                let again = TestRequest(phoneNumber: "+16505550123")
                let optedOut = TestRequest(phoneNumber: "+16505550124")
                let twice = TestRequest(phoneNumber: "+447700900125")
                let person = TestRequest(phoneNumber: Numbers.one())
                try await fleet.send(plain, optedOut, twice, person)
                #expect(try await fleet.event(of: plain).answer == Answer("sent"))
                #expect(try await fleet.event(of: optedOut).answer == Answer("failed", "opted_out"))
                #expect(try await fleet.event(of: person).answer == Answer("rejected", "test_number_only"))
                let receipts = try await fleet.events(of: [twice.id], each: 2)
                #expect(receipts.map(\.answer) == [Answer("sent"), Answer("delivered")])
                #expect(receipts.map(\.body.sequence) == [1, 2])
                try await fleet.send(again)
                #expect(try await fleet.event(of: again).answer == Answer("sent"))
                #expect(fleet.sent.isEmpty)
                #expect(try await fleet.allEvents().filter { $0.body.requestId == twice.id }.count == 2)
            }
        }

        @Test func `a request id that comes again gets the same answer, and with another payload a conflict`()
            async throws
        {
            try await TestFleet.with { fleet in
                _ = try await fleet.startWorker()
                let request = TestRequest(phoneNumber: Numbers.one())
                try await fleet.send(request)
                let sent = try await fleet.event(of: request)

                try await fleet.send(request)
                let twice = try await fleet.events(of: [request.id], each: 2)
                #expect(twice.map(\.answer) == [Answer("sent"), Answer("sent", "duplicate_request")])
                #expect(twice.map(\.body.verificationId) == [sent.body.verificationId, sent.body.verificationId])
                #expect(twice.map(\.body.sequence) == [1, 2])

                let other = TestRequest(id: request.id, phoneNumber: Numbers.one())
                try await fleet.send(other)
                let conflict = try #require(
                    try await fleet.events(of: [request.id], each: 3).first { $0.body.status == "rejected" }
                )
                #expect(conflict.answer == Answer("rejected", "request_id_conflict"))
                #expect(fleet.sent.count == 1)
                #expect(fleet.messages[other.phoneNumber] == nil)
            }
        }

        @Test func `the policy's rules and the time refuse before anything is sent`() async throws {
            try await TestFleet.with { fleet in
                _ = try await fleet.startWorker()
                let unknown = TestRequest(phoneNumber: Numbers.one(), tenant: "nobody")
                let stale = TestRequest(phoneNumber: Numbers.one(), more: #","requestedAt":"2020-01-01T00:00:00Z""#)
                let late = TestRequest(phoneNumber: Numbers.one(), more: #","deadline":"2020-01-01T00:00:00Z""#)
                let email = TestRequest(
                    phoneNumber: Numbers.one(),
                    more: #","channel":"sms","languageCode":"de-AT","client":{"ip":"192.0.2.1"}"#
                )
                let wanted: [(TestRequest, Answer)] = [
                    (TestRequest(phoneNumber: Numbers.one("FR")), Answer("rejected", "region_not_allowed")),
                    (TestRequest(phoneNumber: Numbers.one("IN")), Answer("rejected", "region_confirmed_only")),
                    (TestRequest(phoneNumber: Numbers.one("IN"), isConfirmed: true), Answer("sent")),
                    (TestRequest(phoneNumber: "+4915100000000000"), Answer("rejected", "invalid_phone_number")),
                    (unknown, Answer("rejected", "unknown_tenant")),
                    (stale, Answer("expired_unsent", "stale_request")),
                    (late, Answer("expired_unsent", "deadline")),
                    (email, Answer("sent")),
                ]
                try await fleet.send(wanted.map(\.0))
                let events = try await fleet.events(of: wanted.map(\.0.id))
                #expect(events.count == wanted.count)
                for (request, answer) in wanted {
                    let event = try #require(events.first { $0.body.requestId == request.id })
                    #expect(event.answer == answer, "\(request.json)")
                    #expect(event.body.policyVersion == "test.1")
                    if answer == Answer("sent") { continue }
                    #expect(event.body.verificationId == nil)
                    #expect(event.body.rule != nil)
                    #expect(fleet.messages[request.phoneNumber] == nil)
                }
                #expect(fleet.sent.count == 2)
            }
        }
    }
}
