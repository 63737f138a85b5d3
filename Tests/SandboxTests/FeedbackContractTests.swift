// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Sandbox

@Suite(.timeLimit(.minutes(5)))
struct FeedbackContractTests {
    private static let form = ["content-type": "application/x-www-form-urlencoded"]

    private func twilioMessage(_ client: Client, feedback: Bool = true) async throws -> String {
        let more = feedback ? ["ProvideFeedback": "true"] : [:]
        return try #require(
            try await client.send(.message().merging(more) { $1 }).json["sid"] as? String
        )
    }

    private func confirm(
        _ client: Client,
        _ sid: String,
        _ body: String = "Outcome=confirmed"
    )
        async throws -> Answer
    {
        try await client.request(
            "POST",
            "/2010-04-01/Accounts/AC1/Messages/\(sid)/Feedback.json",
            body: body
        )
    }

    @Test func `Twilio's feedback marks its message`() async throws {
        try await withSandbox { client in
            let sid = try await twilioMessage(client)
            #expect(await client.sandbox.messages().first?.confirmed == false)
            #expect(try await confirm(client, sid, "Outcome=unconfirmed").status == 201)
            #expect(await client.sandbox.messages().first?.confirmed == false)
            let answer = try await confirm(client, sid)
            #expect(answer.status == 201)
            #expect(try answer.json["outcome"] as? String == "confirmed")
            #expect(try answer.json["message_sid"] as? String == sid)
            #expect(await client.sandbox.messages().first?.confirmed == true)
            #expect(
                try await client.request("GET", "/sandbox/messages").body.contains(#""confirmed":true"#)
            )
        }
    }

    @Test
    func
        `Twilio refuses feedback of an unknown message, of one without ProvideFeedback, and another outcome`()
        async throws
    {
        try await withSandbox { client in
            #expect(try await confirm(client, "SM0").status == 404)
            #expect(
                try await confirm(client, try await twilioMessage(client, feedback: false)).status == 404
            )
            let sid = try await twilioMessage(client)
            #expect(try await confirm(client, sid, "Outcome=maybe").status == 400)
            let other = "/2010-04-01/Accounts/AC2/Messages/\(sid)/Feedback.json"
            #expect(try await client.request("POST", other, body: "Outcome=confirmed").status == 404)
            let path = "/2010-04-01/Accounts/AC1/Messages/\(sid)/Feedback.json"
            #expect(
                try await client.request("POST", path, body: "Outcome=confirmed", credentials: nil).status
                    == 401
            )
            #expect(await !client.sandbox.messages().contains { $0.confirmed })
        }
    }

    @Test(
        arguments: [
            ([:], 200), (["delivered": "1"], 200), (["timestamp": ""], 200), (["delivered": "0"], 200),
            (["api_secret": "wrong"], 401), (["api_key": ""], 401), (["delivered": ""], 423),
            (["delivered": "yes"], 423),
            (["timestamp": "2026-11-20T12:34:56Z"], 423), (["timestamp": "2026-11-31 12:34:56"], 423),
            (["message-id": "X"], 420), (["message-id": ""], 420), (["api_key": "other"], 420),
        ] as [([String: String], Int)]
    )
    func `Vonage's conversions mark their message, or are refused by their status`(
        changes: [String: String],
        status: Int
    )
        async throws
    {
        try await withSandbox(SandboxConfiguration(authToken: "s")) { client in
            let sent = try await client.vonage()
            let id = try #require(try sent.objects("messages").first?["message-id"] as? String)
            let parameters = [
                "api_key": "k", "api_secret": "s", "message-id": id, "delivered": "true",
                "timestamp": "2026-11-20 12:34:56",
            ].merging(changes) { $1 }.filter { !$0.value.isEmpty }
            let answer = try await client.post("/conversions/sms", Client.form(parameters), Self.form)
            #expect(answer.status == status)
            let isConfirmed = status == 200 && changes["delivered"] != "0"
            #expect(await client.sandbox.messages().first?.confirmed == isConfirmed)
        }
    }
}
