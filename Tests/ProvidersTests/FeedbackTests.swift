// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing
import Verification

@testable import Providers

/// The reports of used messages, of every kind that takes them.
@Suite struct FeedbackTests {
    private static let twilio = ModuleSample(
        "Twilio",
        ModuleSample.twilio.settings + ", feedback: true",
        success: ModuleSample.twilio.success,
        accepted: ModuleSample.twilio.accepted
    )
    private static let vonage = ModuleSample(
        "Vonage SMS API",
        ModuleSample.vonageSMS.settings + ", feedback: true",
        success: ModuleSample.vonageSMS.success,
        accepted: ModuleSample.vonageSMS.accepted
    )
    private static let all = [twilio, vonage]

    private func confirmed(
        _ id: String = "SM1",
        at time: Timestamp = .init(microseconds: 1_795_178_096_789_999)
    ) -> ConfirmedMessage {
        ConfirmedMessage(send: SendID(UUIDValue(1)), provider: "main", messageID: id, approvedAt: time)
    }

    /// Reports one message to a scripted server.
    private func report(
        _ sample: ModuleSample,
        _ step: ServerStep,
        _ message: ConfirmedMessage? = nil,
        within deadline: Duration = .seconds(30)
    ) async throws -> (answer: ProviderAnswer, seen: ServerRecord) {
        try await ScriptedServer.with([step]) { server in
            let client = ProviderClient(maximumConnections: 2)
            let provider = try #require(try sample.configuration(server.url).feedback(client: client))
            #expect(provider.name == "main")
            let answer = await provider.confirm(message ?? confirmed(), within: deadline)
            await client.shutdown()
            return (answer, server.seen)
        }
    }

    @Test func `Twilio gets the outcome at the message's own address, and nothing else`() async throws {
        let (reply, seen) = try await report(
            Self.twilio,
            answer("201 Created", #"{"outcome": "confirmed"}"#)
        )
        #expect(reply == ProviderAnswer(.accepted))
        let request = try #require(seen.requests.first)
        #expect(
            request.head.hasPrefix(
                "POST /2010-04-01/Accounts/AC123/Messages/SM1/Feedback.json HTTP/1.1\r\n"
            )
        )
        #expect(request.header("authorization") == "Basic QUMxMjM6dG9rLTNuLXMzY3IzdA==")
        #expect(request.header("content-type") == "application/x-www-form-urlencoded")
        #expect(request.body == "Outcome=confirmed")
    }

    @Test func `Vonage gets the message's id, the time in UTC and the login in the body`() async throws {
        let (reply, seen) = try await report(Self.vonage, answer("200 OK", "OK"), confirmed("0A1"))
        #expect(reply == ProviderAnswer(.accepted))
        let request = try #require(seen.requests.first)
        #expect(request.head.hasPrefix("POST /conversions/sms HTTP/1.1\r\n"))
        #expect(request.header("authorization") == nil)
        #expect(
            request.body
                == "api_key=key1&api_secret=\(token)&message-id=0A1&delivered=true&timestamp=2026-11-20+12%3A34%3A56"
        )
    }

    @Test func `an id with characters of a path stays one part of it`() async throws {
        let (_, seen) = try await report(
            Self.twilio,
            answer("201 Created", "{}"),
            confirmed("../x?y#z /")
        )
        let request = try #require(seen.requests.first)
        #expect(request.head.contains("/Messages/..%2Fx%3Fy%23z+%2F/Feedback.json HTTP/1.1"))
    }

    @Test(arguments: [
        (400, ProviderOutcome.refused, true), (404, .refused, true), (420, .refused, true),
        (423, .refused, true),
        (401, .misconfigured, false), (402, .misconfigured, false), (403, .misconfigured, false),
        (429, .throttled, false), (500, .unknown, false), (503, .unknown, false),
    ])
    func `a status says whether the next report may be taken`(
        status: Int,
        outcome: ProviderOutcome,
        isOfMessage: Bool
    )
        async throws
    {
        for sample in Self.all {
            let (reply, _) = try await report(
                sample,
                answer("\(status) X", "{}", headers: "Retry-After: 7\r\n")
            )
            #expect(reply.outcome == outcome && reply.isOfMessage == isOfMessage, "\(sample) \(status)")
            #expect(reply.errorCode == "http_\(status)" && reply.retryAfter == .seconds(7))
        }
    }

    @Test func `a report ends at its deadline`() async throws {
        for sample in Self.all {
            let (reply, _) = try await report(sample, .silence, within: .milliseconds(100))
            #expect(reply.outcome == .unknown && reply.errorCode == "timeout")
        }
    }

    @Test func `without the setting nothing is reported, and Twilio is not told to expect it`() async throws {
        let client = ProviderClient(maximumConnections: 1)
        for sample in ModuleSample.all {
            #expect(try sample.configuration("http://127.0.0.1:1").feedback(client: client) == nil)
        }
        await client.shutdown()
        #expect(try await !ModuleSample.twilio.request().body.contains("ProvideFeedback"))
        #expect(try await Self.twilio.request().body.hasSuffix("&ProvideFeedback=true"))
        #expect(try await Self.vonage.request().body == ModuleSample.vonageSMS.request().body)
    }

    @Test func `Vonage's reports go to their own host, and the Messages API has none`() throws {
        let entry = "{ name: v, kind: vonage, apiKey: k, apiSecret: s, from: A, feedback: true }"
        let module = try ModuleSettings(entry).configuration() as? VonageConfiguration
        #expect(module?.conversionURL == "https://api.nexmo.com/conversions/sms")
        let faulty = ModuleSettings(
            "{ name: v, kind: vonage, api: messages, apiKey: k, apiSecret: s, from: A, feedback: true }"
        )
        #expect(faulty.lines.count == 1 && faulty.lines[0].contains("needs api: sms"))
    }

    @Test func `no secret is printed`() throws {
        let client = ProviderClient(maximumConnections: 1)
        for sample in Self.all {
            let provider = try #require(
                try sample.configuration("http://127.0.0.1:1").feedback(client: client)
            )
            var printed = "\(provider) \(String(reflecting: provider))"
            dump(provider, to: &printed)
            #expect(!printed.contains(token))
        }
    }
}
