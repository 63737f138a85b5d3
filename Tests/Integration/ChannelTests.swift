// SPDX-License-Identifier: Apache-2.0

import Administration
import FleetSupport
import Foundation
import KafkaClient
import Sandbox
import TestSupport
import TestTools
import Testing
import Verification

extension Scenarios {
    @Suite struct Channels {
        @Test func `an e-mail's link and its code lead to approval for the address that it went to, once`() async throws
        {
            try await TestFleet.with(policy: TestPolicy.withEmail) { fleet in
                let port = try await fleet.sandbox.waitUntilListeningForMail().port
                let mailer =
                    "{ name: mailer, kind: smtp, host: 127.0.0.1, port: \(port), tls: none, from: a@example.com }"
                try fleet.configure("providers:\n", "providers:\n  - \(mailer)\n")
                _ = try await fleet.startWorker()
                for (id, useLink) in [("by-link", true), ("by-code", false)] {
                    let address = "\(id)@example.com"
                    try await fleet.send([.email(id: id, address: address)])
                    let event = try #require(try await fleet.events(of: [id]).first)
                    #expect(event.answer == Answer("sent"))
                    #expect(event.body.recipient?.region == nil)
                    let mail = try #require(await fleet.sandbox.emails(to: address).first)
                    let link = try #require(mail.links.first.flatMap { URLComponents(string: $0) })
                    #expect(link.host == "example.com" && link.path == "/__/auth/links")
                    let token = try #require(link.queryItems?.first { $0.name == "oobCode" }?.value)
                    let guess = useLink ? token : try #require(mail.code)
                    let owner = try CodeKeys.test.fingerprint(of: .email(#require(EmailAddress(address))))
                    let other = try CodeKeys.test.fingerprint(of: .email(#require(EmailAddress("eve@example.com"))))
                    #expect(try await fleet.check(guess, event, fingerprint: other) == .incorrect)
                    #expect(try await fleet.check(guess, event) == .incorrect)
                    #expect(try await fleet.check(guess, event, fingerprint: owner) == .approved)
                    #expect(try await fleet.check(guess, event, fingerprint: owner) == .alreadyApproved)
                }
                try await fleet.send([.email(id: "alone", address: "я@пример.example", hasLink: false)])
                let event = try #require(try await fleet.events(of: ["alone"]).first)
                #expect(event.answer == Answer("sent"))
                let mail = try #require(await fleet.sandbox.emails(to: "я@xn--e1afmkfd.example").first)
                #expect(mail.links.isEmpty)
                let owner = try CodeKeys.test.fingerprint(of: .email(#require(EmailAddress("я@пример.example"))))
                let code = try #require(mail.code)
                #expect(try await fleet.check(code, event, fingerprint: owner) == .approved)
            }
        }

        @Test func `a worker that stood still beyond its calls' deadline reads what mail server and Apple answered`()
            async throws
        {
            try await TestFleet.with(policy: TestPolicy.withEmailAndPush) { fleet in
                let mail = try await fleet.sandbox.waitUntilListeningForMail().port
                let web = try await fleet.sandbox.waitUntilListening()
                let key = try fleet.folder.write(SelfSigned.privateKey, to: "key.p8")
                let providers = """
                    providers:
                      - { name: mailer, kind: smtp, host: 127.0.0.1, port: \(mail), tls: none, from: a@example.com }
                      - { name: apple, kind: apns, keyId: K1, teamId: T1, privateKeyFile: "\(key)", \
                    baseURL: "http://\(web.host):\(web.port)" }

                    """
                try fleet.configure("providers:\n", providers)
                try fleet.configure("keys:\n", "worker: { callDeadline: 2s }\nkeys:\n")
                let worker = try await fleet.startWorker()
                let device = String(repeating: "ab", count: 32)
                for target in ["slow@example.com", device] {
                    fleet.sandbox.add(.delay(.milliseconds(1500)), to: target)
                }
                try await fleet.send([
                    .email(id: "mail", address: "slow@example.com"), .push(id: "push", device: device),
                ])
                try await eventually("both have got their message") {
                    await fleet.sandbox.emails(to: "slow@example.com").count + fleet.sandbox.pushes(to: device).count
                        == 2
                }
                worker.program.send(SIGSTOP)
                // The freeze is the fault itself: longer than the calls' deadline, shorter than the lease.
                try await Task.sleep(for: .seconds(5))
                worker.program.send(SIGCONT)
                let events = try await fleet.events(of: ["mail", "push"])
                #expect(events.map(\.answer) == [Answer("sent"), Answer("sent")])
            }
        }

        @Test func `when the first provider is dead, the second takes over, and nobody gets two`()
            async throws
        {
            let policy = TestPolicy.standard.replacingOccurrences(
                of: "default: [main]",
                with: "default: [main, backup]"
            )
            try await TestFleet.with(policy: policy) { fleet in
                let sandbox = try await fleet.sandbox.waitUntilListening()
                let address = "http://\(sandbox.host):\(sandbox.port)"
                let backup =
                    "{ name: backup, kind: vonage, baseURL: \"\(address)\", apiKey: k, apiSecret: s, from: Acme }"
                // No server listens on port 1.
                try fleet.configure("baseURL: \"\(address)\"", "baseURL: \"http://127.0.0.1:1\"")
                try fleet.configure("providers:\n", "providers:\n  - \(backup)\n")
                _ = try await fleet.startWorker()
                let requests = Numbers.take(200).map { TestRequest(phoneNumber: $0) }
                let start = ContinuousClock.now
                try await fleet.send(requests)
                let events = try await fleet.events(of: requests.map(\.id), within: .seconds(60))
                print("failover: 200 requests in \(ContinuousClock.now - start)")
                let sent = events.filter { $0.answer == Answer("sent") }
                // A machine that stands still for 2 s pauses the backup, too: a send's three calls may end meanwhile.
                #expect(sent.count >= 190)
                #expect(sent.allSatisfy { $0.body.send?.provider == "backup" })
                #expect(fleet.sent.count == sent.count)
                #expect(Set(fleet.sent.map(\.to)).count == sent.count)
            }
        }

        @Test
        func `what providers say later is told, settles what nobody knew, and is believed only if signed rightly`()
            async throws
        {
            try await TestFleet.with { fleet in
                try fleet.configure("keys:\n", "worker: { callDeadline: 5s }\nkeys:\n")
                _ = try await fleet.startWorker()
                let known = TestRequest(phoneNumber: Numbers.one())
                let unknown = TestRequest(phoneNumber: Numbers.one())
                fleet.sandbox.add(.silence, to: unknown.phoneNumber)
                try await fleet.send(known, unknown)
                let sent = try #require(try await fleet.events(of: [known.id]).first)
                let lost = try #require(try await fleet.events(of: [unknown.id]).first)
                #expect(lost.answer == Answer("unknown", "timeout"))
                let message = try #require(sent.body.send?.providerMessageId)
                let send = try #require(lost.body.send?.id)
                let raw = #"{"MessageSid":"\#(message)","MessageStatus":"delivered"}"#
                let forged = #"{"provider":"main","url":"https://x.example/","headers":{},"raw":\#(raw)}"#
                let receipts = [
                    forged, #"{"provider":"main","raw":\#(raw)}"#, #"{"provider":"main","raw":\#(raw)}"#,
                    #"{"provider":"main","sendId":"\#(send)","status":"undelivered","errorCode":"30003"}"#,
                ]
                try await fleet.send(
                    receipts.map { TestRecord(key: nil, value: Array($0.utf8)) },
                    to: fleet.topics.receipts
                )
                let first = try await fleet.events(of: [known.id], each: 2)
                #expect(first.map(\.answer) == [Answer("sent"), Answer("delivered")])
                let second = try await fleet.events(of: [unknown.id], each: 2)
                #expect(second.last?.answer == Answer("undelivered", "unreachable"))
                let letter = try #require(try await fleet.deadLetters(1).first)
                #expect(letter.text("dead-letter-reason") == "bad_signature")
                #expect(try await fleet.allEvents().count == 4)
            }
        }
    }
}

extension TestPolicy {
    fileprivate static let withEmail = standard.replacingOccurrences(
        of: "routes: { default: [main] }",
        with: "emailLinks: { authorizedDomains: [example.com] }\n    routes: { default: [main], email: [mailer] }"
    )

    fileprivate static let withEmailAndPush = withEmail.replacingOccurrences(
        of: "email: [mailer] }",
        with: "email: [mailer], apns: [apple] }"
    )
}

extension TestRecord {
    fileprivate static func email(id: String, address: String, hasLink: Bool = true) -> TestRecord {
        let actionCode = #"{"url":"https://example.com/finish","handleCodeInApp":true}"#
        let json = """
            {"requestId":"\(id)","channel":"email","purpose":"sign_in","recipient":{"email":"\(address)"},\
            "actionCode":\(hasLink ? actionCode : "null")}
            """
        return TestRecord(key: address, value: Array(json.utf8))
    }

    fileprivate static func push(id: String, device: String) -> TestRecord {
        let recipient = #"{"deviceToken":"\#(device)","bundleId":"com.example.app"}"#
        let json =
            #"{"requestId":"\#(id)","channel":"apns","purpose":"app_verification","recipient":\#(recipient)}"#
        return TestRecord(key: device, value: Array(json.utf8))
    }
}
