// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import NIOHTTP1
package import Verification

/// Vonage, by its SMS API or its Messages API.
///
/// Neither has an idempotency key, so a call whose answer is lost must not be repeated: it is `unknown`.
package struct VonageProvider: MessageProvider {
    package var name: String { configuration.name }

    private let configuration: VonageConfiguration
    private let client: ProviderClient
    private let target: Target?

    /// The request without its body; nil where each message needs its own token.
    private let request: ProviderRequest?

    /// Creates a provider that uses, but does not own, the client.
    package init(configuration: VonageConfiguration, client: ProviderClient) {
        self.configuration = configuration
        self.client = client
        let base = ProviderRequest.base(configuration.baseURL)
        switch (configuration.api, configuration.credentials) {
        case (.sms, _):
            target = Target("\(base)/sms/json", by: configuration.connection)
            request = ProviderRequest(to: target, headers: ["Content-Type": FormBody.contentType])
        case (.messages, .apiSecret(let apiKey, let secret)):
            target = Target("\(base)/v1/messages", by: configuration.connection)
            let authorization = ProviderRequest.basicAuth(username: apiKey, password: secret.revealed)
            request = Self.messagesRequest(to: target, authorization)
        case (.messages, .application):
            target = Target("\(base)/v1/messages", by: configuration.connection)
            request = nil
        }
    }

    package func send(_ message: OutboundMessage) async -> ProviderAnswer {
        guard case .sms(let text) = message.content else { return ProviderAnswer(.misconfigured, errorCode: "channel") }
        guard let request = request ?? requestWithToken() else {
            return ProviderAnswer(.misconfigured, errorCode: "token")
        }
        switch configuration.api {
        case .sms:
            let result = await client.exchange(request, form(for: text, of: message), of: message)
            return result.providerAnswer(to: message.content.recipient, VonageSMSAnswer.classify)
        case .messages:
            let result = await client.exchange(request, json(for: text, of: message), of: message)
            return result.providerAnswer(to: message.content.recipient, VonageMessagesAnswer.classify)
        }
    }

    /// The form of the SMS API, including the credentials.
    private func form(for text: TextMessage, of message: OutboundMessage) -> [UInt8] {
        var form = FormBody()
        if case .apiSecret(let apiKey, let secret) = configuration.credentials {
            form.append("api_key", apiKey)
            form.append("api_secret", secret.revealed)
        }
        form.append("from", sender)
        form.append("to", Self.digits(text.recipient.e164))
        form.append("text", text.text)
        // The default type, `text`, replaces characters outside GSM-7 by question marks.
        if TextEncoding(text.text).alphabet == .ucs2 { form.append("type", "unicode") }
        form.append("ttl", String(Self.secondsToLive(message.validity) * 1000))
        form.append("client-ref", message.sendID.description)
        if let callback = configuration.callback { form.append("callback", callback) }
        if let registration = text.registration {
            form.append("entity-id", registration.entityID)
            form.append("content-id", registration.templateID)
        }
        return form.bytes
    }

    private func requestWithToken() -> ProviderRequest? {
        guard case .application(let application) = configuration.credentials else { return nil }
        var generator = SystemRandomNumberGenerator()
        let now = Timestamp.now
        let tokenID = UUIDValue.version7(at: now, using: &generator)
        return application.token(tokenID, at: now).map { Self.messagesRequest(to: target, "Bearer \($0)") }
    }

    private static func messagesRequest(to target: Target?, _ authorization: String) -> ProviderRequest {
        ProviderRequest(to: target, headers: ["Content-Type": "application/json", "Authorization": authorization])
    }

    /// The JSON of the Messages API, which detects the encoding and takes the time to live in seconds.
    private func json(for text: TextMessage, of message: OutboundMessage) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.member("channel", "sms")
            json.member("message_type", "text")
            json.member("to", Self.digits(text.recipient.e164))
            json.member("from", sender)
            json.member("text", text.text)
            json.member("client_ref", message.sendID.description)
            json.member("ttl", Self.secondsToLive(message.validity))
            json.member("webhook_url", ifPresent: configuration.callback)
            if let registration = text.registration {
                json.object("sms") { sms in
                    sms.member("entity_id", registration.entityID)
                    sms.member("content_id", registration.templateID)
                }
            }
        }
        return json.bytes
    }

    private var sender: String { Self.digits(configuration.from) }

    /// Vonage writes numbers without their `+`.
    private static func digits(_ number: String) -> String {
        number.hasPrefix("+") ? String(number.dropFirst()) : number
    }

    /// Whole seconds, rounded down, in Vonage's range of 20 seconds to 7 days.
    private static func secondsToLive(_ validity: Duration) -> Int64 {
        min(max(validity.components.seconds, 20), 604_800)
    }
}

extension VonageProvider: CustomStringConvertible, CustomReflectable {
    package var description: String { "VonageProvider(\(name))" }

    /// Shows the configuration only: the client is shared, and its internals change during reflection.
    package var customMirror: Mirror { Mirror(self, children: ["configuration": configuration]) }
}
