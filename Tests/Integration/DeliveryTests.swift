// SPDX-License-Identifier: Apache-2.0

import Administration
import FleetSupport
import Formats
import KafkaClient
import TestSupport
import TestTools
import Testing
import Verification

extension Scenarios {
    @Suite struct Delivery {
        @Test func `a request becomes one message and one event, and its code is approved once`() async throws {
            try await TestFleet.with { fleet in
                let worker = try await fleet.startWorker()
                var request = TestRequest(phoneNumber: "+4915123456789")
                request.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
                try await fleet.send(request)

                let event = try await fleet.event(of: request)
                let message = try #require(fleet.messages[request.phoneNumber]?.first)
                #expect(fleet.sent.count == 1)
                #expect(message.body == "\(message.code) is your Acme verification code. It expires in 10 min.")
                #expect(message.code.count == 6)
                expectBody(of: event, request)
                expectHeaders(of: event, request)

                let wrong = message.code == "000000" ? "000001" : "000000"
                #expect(try await fleet.check(wrong, event) == .incorrect)
                #expect(try await fleet.check(message.code, event) == .approved)
                #expect(try await fleet.check(message.code, event) == .alreadyApproved)
                #expect(worker.logged.contains("worker.started"))
                #expect(try await fleet.allEvents().count == 1)
            }
        }

        @Test func `a worker writes its figures, and each line about a request has its trace`() async throws {
            try await TestFleet.with { fleet in
                let worker = try await fleet.startWorker(["LOG_STATS_INTERVAL": "1s"])
                var request = TestRequest(phoneNumber: Numbers.one())
                request.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
                try await fleet.send(request)
                _ = try await fleet.event(of: request)
                let figures = worker.logged.count { $0 == "worker.stats" }
                try await worker.waitForLog("worker.stats", times: figures + 2)
                let lines = worker.program.lines
                let lag = lines.filter { $0.contains("worker.stats") && $0.contains(#""lag":{"0":0,"1":0,"2":0}"#) }
                #expect(!lag.isEmpty)
                #expect(lines.contains { $0.contains(#""regions":{"DE":{"sent":1}}"#) })
                #expect(lines.contains { $0.contains(#""providers":{"main":{"accepted":1,"breaker":"closed""#) })
                for event in ["provider.answered", "decision.published"] {
                    let line = try #require(lines.first { $0.contains("\"\(event)\"") })
                    #expect(line.contains(#""trace_id":"0af7651916cd43dd8448eb211c80319c""#))
                    #expect(line.contains(#""span_id":"b7ad6b7169203331""#))
                }
                // Every log line has the same worker id.
                try await worker.stop()
                let start = try #require(lines.first { $0.contains("worker.started") })
                let identifier = try #require(start.firstMatch(of: #/"worker\.id":"[^"]+"/#)?.output)
                #expect(worker.program.lines.filter { $0.hasPrefix("{") }.allSatisfy { $0.contains(identifier) })
                for event in ["worker.stats", "worker.stopping", "worker.stopped"] {
                    #expect(worker.program.lines.contains { $0.contains(event) })
                }
            }
        }

        @Test(arguments: ["text", "otel"])
        func `no format shows a code, a number or a secret`(format: String) async throws {
            try await TestFleet.with(isInspected: false) { fleet in
                let worker = try fleet.launchWorker(
                    ["LOG_FORMAT": format, "LOG_LEVEL": "trace", "LOG_STATS_INTERVAL": "1s"]
                )
                try await eventually("the worker has started") { worker.program.output.contains("worker.started") }
                let requests = Numbers.take(20).map { TestRequest(phoneNumber: $0) }
                try await fleet.send(requests)
                _ = try await fleet.events(of: requests.map(\.id))
                try await worker.stop()
                #expect(worker.program.lines.count >= 40)
                #expect(worker.program.output.contains("worker.stopped"))
                #expect(try await fleet.searchForSecrets().shown == [])
            }
        }

        @Test func `a code that was guessed wrong five times is locked`() async throws {
            try await TestFleet.with { fleet in
                _ = try await fleet.startWorker()
                let request = TestRequest(phoneNumber: Numbers.one())
                try await fleet.send(request)
                let event = try await fleet.event(of: request)
                let code = try #require(fleet.messages[request.phoneNumber]?.first?.code)
                for guess in 1...5 {
                    let wrong = String(code.reversed()) == code ? "x\(guess)" : String(code.reversed())
                    #expect(try await fleet.check(wrong, event) == (guess < 5 ? .incorrect : .locked))
                }
                #expect(try await fleet.check(code, event) == .locked)
            }
        }

        private func expectBody(of event: Event, _ request: TestRequest) {
            let body = event.body
            #expect(body.requestId == request.id)
            #expect(body.tenant == "default")
            #expect(body.channel == "sms")
            #expect(body.purpose == "sign_in")
            #expect(body.sequence == 1)
            #expect(event.answer == Answer("sent"))
            #expect(body.recipient?.masked == "+4********6789")
            #expect(body.recipient?.region == "DE")
            #expect(body.recipient?.fingerprint == fingerprint(of: request.phoneNumber))
            #expect(body.send?.number == 1)
            #expect(body.send?.max == 5)
            #expect(body.send?.provider == "main")
            #expect(body.send?.providerMessageId?.hasPrefix("SM") == true)
            #expect(body.send?.segments == 1)
            #expect(body.send?.encoding == "GSM-7")
            #expect(body.send?.errorCode == nil)
            #expect(body.code?.length == 6)
            #expect(body.code?.generation == 1)
            #expect(body.sendsLeft == 4)
            #expect(body.fictional == false)
            #expect(body.policyVersion == "test.1")
            #expect(seconds(from: body.occurredAt, to: body.expiresAt) == 600)
            #expect(seconds(from: body.occurredAt, to: body.resendAfter) == 60)
        }

        private func expectHeaders(of event: Event, _ request: TestRequest) {
            let record = event.record
            #expect(record.key.map { String(decoding: $0, as: UTF8.self) } == event.body.verificationId)
            #expect(record.text("ce_specversion") == "1.0")
            #expect(record.text("ce_type") == "com.codecourier.verification.delivery.v1")
            #expect(record.text("ce_source") == "/code-courier")
            #expect(record.text("ce_subject") == event.body.verificationId)
            #expect(record.text("ce_requestid") == event.body.requestId)
            #expect(record.text("ce_time") == event.body.occurredAt)
            #expect(record.text("content-type") == "application/json")
            #expect(record.text("traceparent") == request.traceparent)
            #expect(event.id == "\(event.body.verificationId ?? "")-1")
        }

        private func fingerprint(of number: String) -> String? {
            PhoneNumber(number).map { hexadecimal(CodeKeys.test.fingerprint(of: .phone($0))) }
        }

        private func seconds(from start: String, to end: String?) -> Int64? {
            guard let start = Timestamp(rfc3339: start), let end = end.flatMap({ Timestamp(rfc3339: $0) }) else {
                return nil
            }
            return (end - start).components.seconds
        }
    }
}
