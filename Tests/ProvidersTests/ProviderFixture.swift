// SPDX-License-Identifier: Apache-2.0

import Formats
import Providers
import Testing
import Verification

/// The auth token of every test's account, which no output may contain.
let token = "tok-3n-s3cr3t"

func configuration(baseURL: String) -> TwilioConfiguration {
    TwilioConfiguration(
        name: "main",
        baseURL: baseURL,
        accountSid: "AC123",
        credentials: TwilioConfiguration.Credentials(username: "AC123", password: Secret(token)),
        sender: .from("+15005550006")
    )
}

func message(
    text: String = "654321 is your code.",
    validity: Duration = .seconds(600),
    within callDeadline: Duration = .seconds(30),
    leavingWithin patience: Duration = .seconds(60),
    trace: TraceContext? = nil
) throws -> OutboundMessage {
    OutboundMessage(
        sendID: SendID(try #require(UUIDValue("01890a5d-ac96-774b-bcce-b302099a8057"))),
        content: .sms(TextMessage(recipient: try #require(PhoneNumber("+16505550123")), text: text)),
        validity: validity,
        callDeadline: callDeadline,
        leaveBy: .now + patience,
        trace: trace
    )
}

/// Runs a provider with its own client during `body`.
func withProvider<Value>(
    _ configuration: TwilioConfiguration,
    maximumConnections: Int = 8,
    body: (TwilioProvider) async throws -> Value
) async throws -> Value {
    let client = ProviderClient(maximumConnections: maximumConnections)
    do {
        let value = try await body(TwilioProvider(configuration: configuration, client: client))
        await client.shutdown()
        return value
    } catch {
        await client.shutdown()
        throw error
    }
}

/// Sends one message to a scripted server, and returns the answer and the server's record.
func exchange(
    _ script: [ServerStep],
    within callDeadline: Duration = .seconds(30)
) async throws -> (answer: ProviderAnswer, seen: ServerRecord) {
    try await ScriptedServer.with(script) { server in
        let answer = try await withProvider(configuration(baseURL: server.url)) { provider in
            await provider.send(try message(within: callDeadline))
        }
        return (answer, server.seen)
    }
}

/// An HTTP answer with a JSON body; the connection stays open.
func answer(_ status: String, _ body: String, headers: String = "") -> ServerStep {
    .answer(
        "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    )
}

let created = answer(
    "201 Created",
    #"{"sid": "SM0123456789", "status": "queued", "num_segments": "2", "error_code": null}"#
)
