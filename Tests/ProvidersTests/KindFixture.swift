// SPDX-License-Identifier: Apache-2.0

import NIOSSL
import Testing
import Verification

@testable import Providers

/// One kind of provider, as the suites for all kinds use it.
struct KindFixture: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable (_ baseURL: String, ProviderClient) throws -> any MessageProvider

    /// The body of an answer that accepts the message.
    let success: String

    /// The provider's answer to that body.
    let accepted: ProviderAnswer

    /// Runs the provider with its own client during `body`.
    ///
    /// The client may trust other authorities than the system's.
    func with<Value>(
        baseURL: String,
        maximumConnections: Int = 8,
        trusting authorities: NIOSSLTrustRoots? = nil,
        body: (any MessageProvider) async throws -> Value
    ) async throws -> Value {
        let client = ProviderClient(maximumConnections: maximumConnections, trusting: authorities)
        do {
            let value = try await body(try make(baseURL, client))
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
        _ message: OutboundMessage? = nil
    ) async throws -> (answer: ProviderAnswer, seen: ServerRecord) {
        try await ScriptedServer.with(script) { server in
            let answer = try await with(baseURL: server.url) { provider in
                await provider.send(try message ?? patientMessage())
            }
            return (answer, server.seen)
        }
    }

    /// The only request that reaches a server which accepts every message.
    func request(_ message: OutboundMessage? = nil) async throws -> ReceivedRequest {
        let (answer, seen) = try await exchange([ProvidersTests.answer("200 OK", success)], message)
        #expect(answer == accepted)
        #expect(seen.requests.count == 1)
        return try #require(seen.requests.first)
    }
}

/// A message with a long deadline, since a busy machine can stall for seconds.
func patientMessage() throws -> OutboundMessage {
    try message(within: .seconds(30))
}

extension KindFixture {
    static let all = [twilio, vonageSMS, vonageMessages, vonageApplication, sns, gatewayJSON, gatewayForm]

    static let twilio = KindFixture(
        testDescription: "Twilio",
        make: { TwilioProvider(configuration: configuration(baseURL: $0), client: $1) },
        success: #"{"sid": "SM1", "num_segments": "2"}"#,
        accepted: ProviderAnswer(.accepted, messageID: "SM1", segments: 2)
    )

    static let vonageSMS = vonage(
        "Vonage SMS API",
        .sms,
        success: #"{"message-count": "1", "messages": [{"to": "16505550123", "message-id": "0A1", "status": "0"}]}"#,
        accepted: ProviderAnswer(.accepted, messageID: "0A1", segments: 1)
    )

    static let vonageMessages = vonage(
        "Vonage Messages API",
        .messages,
        success: #"{"message_uuid": "aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab"}"#,
        accepted: ProviderAnswer(.accepted, messageID: "aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab")
    )

    static let vonageApplication = KindFixture(
        testDescription: "Vonage Messages API with an application",
        make: { baseURL, client in
            let application = VonageApplication(id: "app-1", privateKey: Secret(RSAKey.pem))
            let configuration = VonageConfiguration(
                name: "main",
                api: .messages,
                baseURL: baseURL,
                credentials: .application(try #require(application)),
                from: "Acme"
            )
            return VonageProvider(configuration: configuration, client: client)
        },
        success: vonageMessages.success,
        accepted: vonageMessages.accepted
    )

    static func vonage(
        _ name: String,
        _ api: VonageConfiguration.API,
        success: String,
        accepted: ProviderAnswer,
        change: @escaping @Sendable (inout VonageConfiguration) -> Void = { _ in }
    ) -> KindFixture {
        KindFixture(
            testDescription: name,
            make: { baseURL, client in
                var configuration = VonageConfiguration(
                    name: "main",
                    api: api,
                    baseURL: baseURL,
                    credentials: .apiSecret(apiKey: "key1", secret: Secret(token)),
                    from: "+15005550006"
                )
                change(&configuration)
                return VonageProvider(configuration: configuration, client: client)
            },
            success: success,
            accepted: accepted
        )
    }

    static let sns = sns()

    static func sns(change: @escaping @Sendable (inout SNSConfiguration) -> Void = { _ in }) -> KindFixture {
        KindFixture(
            testDescription: "Amazon SNS",
            make: { baseURL, client in
                var configuration = SNSConfiguration(
                    name: "main",
                    region: "us-east-1",
                    baseURL: baseURL,
                    accessKey: AccessKey(id: "AKIA1", secret: Secret(token))
                )
                change(&configuration)
                return SNSProvider(configuration: configuration, client: client)
            },
            success: """
                <PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult>\
                <MessageId>94f20ce6-13c5-43a0-9a9e-ca52d816e90b</MessageId></PublishResult><ResponseMetadata>\
                <RequestId>f187a3c1-376f-11df-8963-01868b7c937a</RequestId></ResponseMetadata></PublishResponse>
                """,
            accepted: ProviderAnswer(.accepted, messageID: "94f20ce6-13c5-43a0-9a9e-ca52d816e90b")
        )
    }

    static let gatewayJSON = gateway(
        "JSON gateway",
        body: #"{"to": "{to}", "text": "{text}", "key": "{secret}"}"#
    )

    static let gatewayForm = gateway("form gateway", body: "to={toDigits}&text={text}&key={secret}") {
        $0.contentType = .form
    }

    static func gateway(
        _ name: String = "gateway",
        body: String = #"{"to": "{to}", "text": "{text}"}"#,
        change: @escaping @Sendable (inout GatewayConfiguration) -> Void = { _ in }
    ) -> KindFixture {
        KindFixture(
            testDescription: name,
            make: { baseURL, client in
                var configuration = GatewayConfiguration(
                    name: "main",
                    url: try GatewayTemplate("\(baseURL)/send?v=2"),
                    body: try GatewayTemplate(body),
                    secret: Secret(token),
                    messageID: AnswerPath("data.id").map { .path($0) },
                    segments: AnswerPath("data.parts"),
                    errorCode: AnswerPath("error.code").map { .path($0) }
                )
                change(&configuration)
                return GatewayProvider(configuration: configuration, client: client)
            },
            success: #"{"data": {"id": "msg_1", "parts": 2}}"#,
            accepted: ProviderAnswer(.accepted, messageID: "msg_1", segments: 2)
        )
    }
}
