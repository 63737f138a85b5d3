// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Sandbox

/// Tests the recipients and the repetitions of scripted faults, and their JSON format.
@Suite(.timeLimit(.minutes(5)))
struct FaultRuleTests {
    @Test
    func `a fault waits for its recipient and happens as often as told`() async throws {
        try await withSandbox { client async throws in
            client.sandbox.add(.error(code: 21614), to: "+14155550002", times: 2)
            client.sandbox.add(.error(code: 21612), to: "+14155550003", times: -1)
            #expect(try await client.send(.message(to: "+14155550001")).status == 201)
            for expected in [400, 400, 201] {
                #expect(try await client.send(.message(to: "+14155550002")).status == expected)
            }
            for _ in 0..<4 { #expect(try await client.send(.message(to: "+14155550003")).status == 400) }
            client.sandbox.clearFaults()
            #expect(try await client.send(.message(to: "+14155550003")).status == 201)
        }
    }

    @Test
    func `messages above a rate are throttled as each provider does`() async throws {
        try await withSandbox { client async throws in
            client.sandbox.add(.rate(perSecond: 0), times: -1)
            let twilio = try await client.send(.message())
            #expect(twilio.status == 429)
            #expect(try twilio.json["code"] as? Int == 20429)
            #expect(twilio.headers["retry-after"] == "1")
            let vonage = try await client.vonage()
            #expect(vonage.status == 200)
            #expect(try vonage.objects("messages").first?["status"] as? String == "1")
            let messages = try await client.vonageMessages()
            #expect(messages.status == 429)
            #expect((try messages.json["type"] as? String)?.hasSuffix("#1000") == true)
            #expect(try await client.generic().status == 429)
            #expect(try await client.push().json["reason"] as? String == "TooManyRequests")
            let mail = try await MailClient(client.sandbox).send(MailClient.mail(), to: ["a@d.example"])
            #expect(mail.hasPrefix("450"))
            #expect(await client.sandbox.messages().isEmpty)
        }
    }

    @Test
    func `a rate lets so many through in each second, and the next rule fits those`() {
        let script = FaultScript()
        script.add(.rate(perSecond: 2), times: -1)
        script.add(.silence, times: 1)
        let start = ContinuousClock.now
        func take(_ milliseconds: Int) -> Fault? {
            script.take(to: "a", from: .twilio, at: start + .milliseconds(milliseconds))
        }
        #expect(take(0) == .silence)
        #expect(take(500) == nil)
        #expect(take(999) == .rate(perSecond: 2))
        #expect(take(1000) == nil)
        #expect(take(1001) == .rate(perSecond: 2))
        #expect(take(1500) == nil)
        #expect(script.rules.count == 1)
    }

    @Test
    func `a fault lasts as long as told and stays with its provider`() async throws {
        let script = FaultScript()
        let refusal = Fault.status(503, code: nil, retryAfter: nil)
        script.add(refusal, from: .vonage, times: -1, lasting: .seconds(60))
        #expect(script.take(to: "a", from: .vonage) == refusal)
        #expect(script.take(to: "a", from: .twilio) == nil)
        #expect(script.take(to: "a", from: .vonage, at: .now + .seconds(61)) == nil)
        #expect(script.rules.isEmpty)
        try await withSandbox { client async throws in
            client.sandbox.add(refusal, from: .vonage, times: -1)
            client.sandbox.add(.cut(.before), from: .http)
            #expect(try await client.send(.message()).status == 201)
            #expect(try await client.vonage().status == 503)
            await #expect(throws: Answer.Malformed.self) { try await client.generic() }
        }
    }

    @Test(arguments: [
        #"{"lasting":500,"fault":{"kind":"rate","perSecond":5}}"#,
        #"{"lasting":500,"fault":{"kind":"reason","reason":"Unregistered"}}"#,
    ])
    func `a rule scripted by JSON may have a provider and an end`(body: String) async throws {
        try await withSandbox { client in
            let extended = #"{"match":{"provider":"vonage"},"# + body.dropFirst()
            let added = try await client.request("POST", "/sandbox/faults", body: extended)
            #expect(added.status == 201)
            #expect(try added.json["lasting"] as? Int == 500)
            #expect(try added.json["match"] as? [String: String] == ["provider": "vonage"])
            #expect(try added.json["times"] as? Int == (body.contains("rate") ? -1 : 1))
        }
    }

    @Test(arguments: [
        #"{"fault":{"kind":"delay","milliseconds":5}}"#,
        #"{"fault":{"kind":"status","status":500,"code":1,"retryAfter":2}}"#,
        #"{"fault":{"kind":"cut","when":"before"}}"#,
        #"{"fault":{"kind":"cut","when":"after"}}"#,
        #"{"fault":{"kind":"silence"}}"#,
        #"{"fault":{"kind":"drip","milliseconds":5}}"#,
        #"{"fault":{"kind":"endless"}}"#,
        #"{"fault":{"kind":"receipt","when":"late","milliseconds":1500}}"#,
        #"{"fault":{"kind":"receipt","when":"lost"}}"#,
        #"{"fault":{"kind":"receipt","when":"doubled","milliseconds":5}}"#,
        #"{"fault":{"kind":"receipt","when":"undelivered","code":30003}}"#,
        #"{"fault":{"kind":"error","code":21610}}"#,
    ])
    func `a fault scripted by JSON is listed as it was given`(body: String) async throws {
        try await withSandbox { client in
            let extended = #"{"match":{"to":"+14155550123"},"times":3,"# + body.dropFirst()
            let added = try await client.request("POST", "/sandbox/faults", body: extended)
            #expect(added.status == 201)
            let listed = try #require(try await client.request("GET", "/sandbox/faults").objects("faults").first)
            let given = try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
            #expect(listed["fault"] as? NSDictionary == given?["fault"] as? NSDictionary)
            #expect(listed["times"] as? Int == 3)
            #expect((listed["match"] as? [String: String]) == ["to": "+14155550123"])
            #expect(try await client.request("DELETE", "/sandbox/faults").status == 204)
            #expect(try await client.request("GET", "/sandbox/faults").objects("faults").isEmpty)
        }
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"fault":{"kind":"rain"}}"#, #"{"fault":{"kind":"delay"}}"#,
        #"{"fault":{"kind":"delay","milliseconds":-1}}"#, #"{"fault":{"kind":"status","status":200}}"#,
        #"{"fault":{"kind":"rate"}}"#, #"{"fault":{"kind":"reason"}}"#, #"{"lasting":0,"fault":{"kind":"silence"}}"#,
        #"{"fault":{"kind":"cut"}}"#, #"{"fault":{"kind":"error"}}"#, #"{"fault":{"kind":"silence"},"times":0}"#,
        #"{"fault":{"kind":"drip","milliseconds":9223372036854775807}}"#,
    ])
    func `a fault that makes no sense is refused`(body: String) async throws {
        try await withSandbox { client in
            let answer = try await client.request("POST", "/sandbox/faults", body: body)
            #expect(answer.status == 400)
            #expect(try answer.json["error"] is String)
        }
    }
}
