// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import TestSupport
import TestTools
import Testing

@testable import Sandbox

@Suite(.timeLimit(.minutes(5)))
struct VonageContractTests {
    private static func first(_ answer: Answer) throws -> [String: Any] {
        try answer.objects("messages").first ?? [:]
    }

    @Test(arguments: [true, false])
    func `the SMS API answers 200 with a message for each part, by form and by JSON`(isJSON: Bool) async throws {
        try await withSandbox { client in
            let text = "482913 " + String(repeating: "x", count: 200)
            let json: [String: Any] = [
                "api_key": "k", "api_secret": "s", "to": "14155550123", "from": "Acme", "text": text, "ttl": 600_000,
                "client-ref": "send-1",
            ]
            let answer =
                isJSON ? try await client.post("/sms/json", json: json) : try await client.vonage(["text": text])
            #expect(answer.status == 200)
            #expect(try answer.json["message-count"] as? String == "2")
            let parts = try answer.objects("messages")
            #expect(parts.count == 2)
            #expect(Set(parts.compactMap { $0["message-id"] as? String }).count == 2)
            let part = try Self.first(answer)
            #expect(part["status"] as? String == "0")
            #expect(part["to"] as? String == "14155550123")
            #expect(part["client-ref"] as? String == "send-1")
            #expect(part["remaining-balance"] is String)
            #expect(part["message-price"] is String)
            #expect(part["network"] is String)
            let message = try #require(await client.sandbox.messages(to: "+14155550123").first)
            #expect(message.sid == part["message-id"] as? String)
            #expect(message.provider == .vonage)
            #expect(message.reference == "send-1")
            #expect(message.validityPeriod == 600_000)
            #expect(message.code == "482913")
        }
    }

    @Test(arguments: [
        (["to": ""], "2"), (["from": ""], "2"), (["text": ""], "2"), (["api_key": ""], "2"), (["api_secret": ""], "2"),
        (["to": "+14155550123"], "3"), (["to": "nobody"], "3"), (["ttl": "19999"], "3"), (["ttl": "604800001"], "3"),
        (["client-ref": String(repeating: "r", count: 101)], "3"), (["api_secret": "wrong"], "4"),
    ])
    func `the SMS API refuses with 200 and a status`(changes: [String: String], status: String) async throws {
        try await withSandbox(SandboxConfiguration(authToken: "s")) { client in
            let answer = try await client.vonage(changes)
            #expect(answer.status == 200)
            #expect(try answer.json["message-count"] as? String == "1")
            let message = try Self.first(answer)
            #expect(message["status"] as? String == status)
            #expect((message["error-text"] as? String)?.isEmpty == false)
            #expect(message["message-id"] == nil)
            #expect(await client.sandbox.messages().isEmpty)
        }
    }

    @Test(arguments: ["", "text", "unicode"], [true, false])
    func `the SMS API sends what GSM-7 lacks only as unicode`(type: String, isJSON: Bool) async throws {
        try await withSandbox { client in
            let text = "482913 – „Ação“ für 3 €"
            let changes = ["text": text, "type": type]
            let json = ["api_key": "k", "api_secret": "s", "to": "14155550123", "from": "Acme"]
            let answer =
                isJSON
                ? try await client.post("/sms/json", json: json.merging(changes) { $1 })
                : try await client.vonage(changes)
            #expect(try Self.first(answer)["status"] as? String == "0")
            let message = try #require(await client.sandbox.messages().first)
            #expect(message.body == (type == "unicode" ? text : "482913 ? ?A??o? für 3 €"))
            #expect(message.encoding == (type == "unicode" ? .ucs2 : .gsm7))
        }
    }

    @Test
    func `the Messages API answers 202 with an identity`() async throws {
        try await withSandbox { client in
            let answer = try await client.vonageMessages()
            #expect(answer.status == 202)
            let identity = try #require(try answer.json["message_uuid"] as? String)
            #expect(UUID(uuidString: identity) != nil)
            let message = try #require(await client.sandbox.messages(to: "+14155550123").first)
            #expect(message.sid == identity)
            #expect(message.provider == .vonageMessages)
            #expect(message.reference == "send-2")
            #expect(message.accountSid == "AC1")
            let token = "Bearer " + Client.providerToken()
            #expect(try await client.vonageMessages(credentials: token).status == 202)
        }
    }

    @Test(arguments: [
        "channel": "whatsapp", "message_type": "image", "to": "+14155550123", "from": "", "text": "", "ttl": "0",
        "client_ref": String(repeating: "r", count: 101),
    ])
    func `the Messages API refuses with a problem that names the parameter`(name: String, value: String) async throws {
        try await withSandbox { client in
            let answer = try await client.vonageMessages([name: value])
            #expect(answer.status == 422)
            #expect(answer.headers["content-type"] == "application/problem+json")
            let json = try answer.json
            #expect(json["type"] as? String == "https://developer.vonage.com/api-errors/messages#1150")
            #expect(json["title"] is String && json["detail"] is String && json["instance"] is String)
            #expect(try answer.objects("invalid_parameters").first?["name"] as? String == name)
            #expect(await client.sandbox.messages().isEmpty)
        }
    }

    @Test
    func `the Messages API wants credentials`() async throws {
        try await withSandbox(SandboxConfiguration(authToken: "token")) { client async throws in
            for wrong in ["Basic QUMxOndyb25n", "Bearer abc", "Bearer a.b.c", ""] {
                let answer = try await client.vonageMessages(credentials: wrong)
                #expect(answer.status == 401)
                #expect((try answer.json["type"] as? String)?.hasSuffix("#unauthorized") == true)
            }
            #expect(try await client.vonageMessages().status == 202)
        }
    }

    @Test
    func `a delivery receipt has the shape of its API`() async throws {
        let quick = SandboxConfiguration(sentAfter: .zero, deliveredAfter: .milliseconds(20))
        try await withSandbox(quick) { client in
            client.sandbox.add(.receipt(.undelivered(code: 6)), from: .vonage)
            _ = try await client.vonage(["callback": "http://127.0.0.1/dlr"])
            _ = try await client.vonageMessages(["webhook_url": "http://127.0.0.1/status"])
            try await eventually("four receipts") { await client.sandbox.receipts().count == 4 }
            let receipts = await client.sandbox.receipts()
            let classic = receipts.filter { $0.provider == .vonage }
            #expect(classic.map { $0.parameters["status"] } == ["accepted", "failed"])
            #expect(classic.map { $0.parameters["err-code"] } == ["0", "6"])
            let last = try #require(classic.last)
            #expect(last.statusCallback == "http://127.0.0.1/dlr")
            #expect(last.parameters["msisdn"] == "14155550123")
            #expect(last.parameters["client-ref"] == "send-1")
            #expect(last.parameters["messageId"] == (await client.sandbox.messages().first?.sid))
            #expect(last.parameters["scts"]?.wholeMatch(of: /\d{10}/) != nil)
            #expect(
                last.parameters["message-timestamp"]?.wholeMatch(of: /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000/) != nil
            )
            let modern = receipts.filter { $0.provider == .vonageMessages }
            #expect(modern.map { $0.parameters["status"] } == ["submitted", "delivered"])
            #expect(modern.last?.parameters["client_ref"] == "send-2")
            #expect(modern.last?.parameters["channel"] == "sms")
            #expect(modern.last?.statusCallback == "http://127.0.0.1/status")
        }
    }
}
