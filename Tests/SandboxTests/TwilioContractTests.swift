// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import TestTools
import Testing

@testable import Sandbox

@Suite(.timeLimit(.minutes(5)))
struct TwilioContractTests {
    @Test
    func `a message is answered with 201 in the shape of Twilio`() async throws {
        try await withSandbox { client in
            let answer = try await client.send(.message().merging(["ValidityPeriod": "600"]) { $1 })
            #expect(answer.status == 201)
            #expect(answer.headers["content-type"] == "application/json")
            let json = try answer.json
            let sid = try #require(json["sid"] as? String)
            #expect(sid.wholeMatch(of: /SM[0-9a-f]{32}/) != nil)
            #expect(json["status"] as? String == "queued")
            #expect(json["num_segments"] as? String == "1")
            #expect(json["to"] as? String == "+14155550123")
            #expect(json["from"] as? String == "Acme")
            #expect(json["body"] as? String == "482913 is your Acme code.")
            #expect(json["account_sid"] as? String == "AC1")
            #expect(json["error_code"] is NSNull)
            #expect(json["error_message"] is NSNull)
            #expect(json["direction"] as? String == "outbound-api")
            #expect(json["uri"] as? String == "/2010-04-01/Accounts/AC1/Messages/\(sid).json")
            let date = try #require(json["date_created"] as? String)
            #expect(date.wholeMatch(of: /\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} \+0000/) != nil)
            let message = try #require(await client.sandbox.messages().first)
            #expect(message.sid == sid)
            #expect(message.validityPeriod == 600)
            #expect(message.code == "482913")
        }
    }

    @Test(arguments: [
        (["To": "", "From": "Acme", "Body": "x"], 21604),
        (["To": "+1", "From": "Acme", "Body": "x"], 21211),
        (["To": "4155550123", "From": "Acme", "Body": "x"], 21211),
        (["To": "+04155550123", "From": "Acme", "Body": "x"], 21211),
        (["To": "+1415555012345678", "From": "Acme", "Body": "x"], 21211),
        (["To": "+14155550123", "Body": "x"], 21603),
        (["To": "+14155550123", "From": "Acme"], 21602),
        (["To": "+14155550123", "From": "Acme", "Body": String(repeating: "x", count: 1601)], 21617),
    ])
    func `a faulty message is refused with its code`(parameters: [String: String], code: Int) async throws {
        try await withSandbox { client in
            let answer = try await client.send(parameters)
            #expect(answer.status == 400)
            let json = try answer.json
            #expect(json["code"] as? Int == code)
            #expect(json["status"] as? Int == 400)
            #expect(json["message"] is String)
            #expect(json["more_info"] as? String == "https://www.twilio.com/docs/errors/\(code)")
            #expect(await client.sandbox.messages().isEmpty)
        }
    }

    @Test
    func `a body of 1600 characters and a messaging service are taken`() async throws {
        try await withSandbox { client in
            let body = String(repeating: "x", count: 1600)
            let answer = try await client.send(["To": "+14155550123", "MessagingServiceSid": "MG1", "Body": body])
            #expect(answer.status == 201)
            #expect(try answer.json["num_segments"] as? String == "11")
            #expect(try answer.json["messaging_service_sid"] as? String == "MG1")
            #expect(try answer.json["from"] is NSNull)
        }
    }

    @Test(arguments: [nil, "Basic ", "Basic !!!", "Bearer QUMxOnRva2Vu", "Basic QUMxOg==", "Basic OnRva2Vu"])
    func `a request without credentials is refused`(credentials: String?) async throws {
        try await withSandbox { client in
            let answer = try await client.send(.message(), credentials: credentials)
            #expect(answer.status == 401)
            #expect(try answer.json["code"] as? Int == 20003)
            #expect(await client.sandbox.messages().isEmpty)
        }
    }

    @Test
    func `the wrong token is refused where one is set`() async throws {
        try await withSandbox(SandboxConfiguration(authToken: "secret")) { client async throws in
            #expect(try await client.send(.message()).status == 401)
            let right = "Basic " + Data("AC1:secret".utf8).base64EncodedString()
            #expect(try await client.send(.message(), credentials: right).status == 201)
        }
    }

    @Test(arguments: ["/nothing", "/2010-04-01/Accounts/AC1/Calls.json", "/2010-04-01/Accounts/AC1/Messages/SM0.json"])
    func `an unknown path is answered with 20404`(path: String) async throws {
        try await withSandbox { client in
            let answer = try await client.request("GET", path)
            #expect(answer.status == 404)
            #expect(try answer.json["code"] as? Int == 20404)
        }
    }

    @Test
    func `messages are listed newest first, by recipient and page size`() async throws {
        try await withSandbox { client in
            for number in ["+14155550001", "+14155550002", "+14155550001", "+14155550001"] {
                _ = try await client.send(.message(to: number))
            }
            let page = try await client.request("GET", Client.messages + "?To=%2B14155550001&PageSize=2")
            let sids = try page.objects("messages").map { $0["sid"] as? String }
            let kept = await client.sandbox.messages(to: "+14155550001").map(\.sid)
            #expect(sids == kept.reversed().prefix(2).map { $0 })
            let other = try await client.request("GET", "/2010-04-01/Accounts/AC2/Messages.json")
            #expect(try other.objects("messages").isEmpty)
            let sid = try #require(kept.first)
            let one = try await client.request("GET", "/2010-04-01/Accounts/AC1/Messages/\(sid).json")
            #expect(try one.json["sid"] as? String == sid)
        }
    }

    @Test
    func `two requests on one connection are both answered`() async throws {
        try await withSandbox { client in
            let connection = try RawConnection(to: client.port)
            let form = Client.form(.message())
            let keepAlive = client.bytes("POST", Client.messages, body: form)
                .replacingOccurrences(of: "connection: close\r\n", with: "")
            try connection.send(keepAlive)
            _ = await connection.read { $0.contains("\"uri\"") }
            try connection.send(client.bytes("POST", Client.messages, body: form))
            let (text, end) = await connection.read()
            #expect(text.hasPrefix("HTTP/1.1 201"))
            #expect(end == .closed)
            #expect(await client.sandbox.messages().count == 2)
        }
    }

    @Test
    func `a host that is not this machine is refused`() async throws {
        try await withSandbox { client async throws in
            #expect(try await client.request("GET", "/sandbox/messages", host: "evil.example").status == 403)
            #expect(try await client.request("GET", "/sandbox/messages", host: "localhost").status == 200)
        }
        #expect(LoopbackGuard.isLoopback("[::1]:80"))
        #expect(!LoopbackGuard.isLoopback("127.0.0.1.evil.example:80"))
        #expect(!LoopbackGuard.isLoopback("127.evil.0.1"))
    }

    @Test(arguments: [
        ("https://evil.example", false), ("http://127.0.0.1.evil.example:8025", false), ("null", false),
        ("http://127.0.0.1:8025", true), ("http://localhost", true), ("http://[::1]:8025", true),
    ])
    func `a page changes something only if it comes from this machine`(origin: String, isLocal: Bool) async throws {
        try await withSandbox { client async throws in
            // A web page may post plain text to any origin without a CORS preflight.
            let headers = ["content-type": "text/plain", "origin": origin]
            let message = #"{"to":"+14155550123","text":"482913","from":"Acme"}"#
            let answer = try await client.post("/http/messages", message, headers)
            #expect(answer.status == (isLocal ? 202 : 403))
            #expect(await client.sandbox.messages().isEmpty == !isLocal)
            let fault = try await client.post("/sandbox/faults", #"{"fault":{"kind":"silence"}}"#, headers)
            #expect(fault.status == (isLocal ? 201 : 403))
            let reading = try RawConnection(to: client.port)
            try reading.send("GET / HTTP/1.1\r\nhost: localhost\r\norigin: \(origin)\r\nconnection: close\r\n\r\n")
            #expect(try Answer(await reading.read().text).status == 200)
        }
    }

    @Test
    func `form parameters are decoded whatever the bytes`() {
        let parameters = FormParameters(Array("a=1+2%2B3&b&=x&c=%E2%82%AC&d=%4&e=%zz&a=last%0A&f=%FF".utf8))
        #expect(parameters["a"] == "last\n")
        #expect(parameters["b"] == nil)
        #expect(parameters["c"] == "€")
        #expect(parameters["d"] == "%4")
        #expect(parameters["e"] == "%zz")
        #expect(parameters["f"] == "\u{FFFD}")
        #expect(FormParameters(Array("a=1+2%2B3".utf8))["a"] == "1 2+3")
    }

    @Test(arguments: [
        (0 as Int64, "Thu, 01 Jan 1970 00:00:00 +0000", "1970-01-01T00:00:00.000Z"),
        (1_795_167_660_123, "Fri, 20 Nov 2026 09:41:00 +0000", "2026-11-20T09:41:00.123Z"),
        (951_868_799_999, "Tue, 29 Feb 2000 23:59:59 +0000", "2000-02-29T23:59:59.999Z"),
    ])
    func `dates are written as mail and the internet write them`(milliseconds: Int64, mail: String, internet: String) {
        #expect(Timestamp(milliseconds: milliseconds).mailDate == mail)
        #expect(Timestamp(milliseconds: milliseconds).rfc3339 == internet)
    }
}
