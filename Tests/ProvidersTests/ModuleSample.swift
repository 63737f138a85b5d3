// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOSSL
import Testing
import Verification

@testable import Providers

/// One provider over HTTP, made by its module from settings, as the suites for every kind use it.
struct ModuleSample: Sendable, CustomTestStringConvertible {
    let testDescription: String

    /// The entry of the file's list but its name; `<url>` stands for the server's address.
    let settings: String

    /// The body of an answer that accepts the message.
    let success: String

    /// The provider's answer to that body.
    let accepted: ProviderAnswer

    private var change: @Sendable (any ProviderModule) -> any ProviderModule = { $0 }

    init(_ name: String, _ settings: String, success: String, accepted: ProviderAnswer) {
        (testDescription, self.settings, self.success, self.accepted) = (name, settings, success, accepted)
    }

    /// The sample with settings that no file states like that.
    func changing<Module: ProviderModule>(_ change: @escaping @Sendable (inout Module) -> Void) -> ModuleSample {
        var sample = self
        sample.change = { module in
            guard var module = module as? Module else { return module }
            change(&module)
            return module
        }
        return sample
    }

    func configuration(_ baseURL: String) throws -> any ProviderModule {
        let entry = "{ name: main, \(settings.replacing("<url>", with: baseURL)) }"
        return change(try ModuleSettings(entry).configuration())
    }

    func make(_ baseURL: String, _ client: ProviderClient) throws -> any MessageProvider {
        try configuration(baseURL).provider(client: client, logger: Logger(label: "test"))
    }

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
                await provider.send(try message ?? ProvidersTests.message())
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

extension ModuleSample {
    static let all = [twilio, vonageSMS, vonageMessages, vonageApplication, sns, gatewayJSON, gatewayForm]

    static let twilio = ModuleSample(
        "Twilio",
        "kind: twilio, baseURL: \"<url>\", accountSid: AC123, authToken: \(token), from: \"+15005550006\"",
        success: #"{"sid": "SM1", "num_segments": "2"}"#,
        accepted: ProviderAnswer(.accepted, messageID: "SM1", segments: 2)
    )

    private static let vonage =
        "kind: vonage, baseURL: \"<url>\", apiKey: key1, apiSecret: \(token), from: \"+15005550006\""

    static let vonageSMS = ModuleSample(
        "Vonage SMS API",
        vonage,
        success: #"{"message-count": "1", "messages": [{"to": "16505550123", "message-id": "0A1", "status": "0"}]}"#,
        accepted: ProviderAnswer(.accepted, messageID: "0A1", segments: 1)
    )

    static let vonageMessages = ModuleSample(
        "Vonage Messages API",
        "\(vonage), api: messages",
        success: #"{"message_uuid": "aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab"}"#,
        accepted: ProviderAnswer(.accepted, messageID: "aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab")
    )

    static let vonageApplication = ModuleSample(
        "Vonage Messages API with an application",
        """
        kind: vonage, api: messages, baseURL: "<url>", applicationId: app-1, from: Acme, \
        privateKey: "\(RSAKey.pem.replacing("\n", with: "\\n"))"
        """,
        success: vonageMessages.success,
        accepted: vonageMessages.accepted
    )

    static let sns = ModuleSample(
        "Amazon SNS",
        "kind: sns, region: us-east-1, baseURL: \"<url>\", accessKeyId: AKIA1, secretAccessKey: \(token)",
        success: """
            <PublishResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><PublishResult>\
            <MessageId>94f20ce6-13c5-43a0-9a9e-ca52d816e90b</MessageId></PublishResult><ResponseMetadata>\
            <RequestId>f187a3c1-376f-11df-8963-01868b7c937a</RequestId></ResponseMetadata></PublishResponse>
            """,
        accepted: ProviderAnswer(.accepted, messageID: "94f20ce6-13c5-43a0-9a9e-ca52d816e90b")
    )

    static let gatewayJSON = gateway(
        "JSON gateway",
        settings: #"body: '{"to": "{to}", "text": "{text}", "key": "{secret}"}'"#
    )

    static let gatewayForm = gateway(
        "form gateway",
        settings: "body: 'to={toDigits}&text={text}&key={secret}', contentType: application/x-www-form-urlencoded"
    )

    /// A gateway; `body` and `change` may be such as no file states them.
    static func gateway(
        _ name: String = "gateway",
        path: String = "/send?v=2",
        settings: String = #"body: '{"to": "{to}", "text": "{text}"}'"#,
        body: String? = nil,
        change: @escaping @Sendable (inout GatewayConfiguration) -> Void = { _ in }
    ) -> ModuleSample {
        let sample = ModuleSample(
            name,
            """
            kind: http, url: "<url>\(path)", secret: \(token), messageId: data.id, segments: data.parts, \
            errorCode: error.code, \(settings)
            """,
            success: #"{"data": {"id": "msg_1", "parts": 2}}"#,
            accepted: ProviderAnswer(.accepted, messageID: "msg_1", segments: 2)
        )
        return sample.changing { (configuration: inout GatewayConfiguration) in
            if let body { configuration.body = try? GatewayTemplate(body) }
            change(&configuration)
        }
    }
}
