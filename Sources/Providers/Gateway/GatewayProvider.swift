// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import NIOHTTP1
package import Verification

/// A gateway defined by configuration alone.
///
/// Each call carries the send's id as an idempotency key. The operator states, from the gateway's documentation,
/// whether a call whose answer was lost may be repeated.
package struct GatewayProvider: MessageProvider {
    package var name: String { configuration.name }
    package var isIdempotent: Bool { configuration.isIdempotent }

    private let configuration: GatewayConfiguration
    private let client: ProviderClient

    /// Creates a provider that uses, but does not own, the client.
    package init(configuration: GatewayConfiguration, client: ProviderClient) {
        self.configuration = configuration
        self.client = client
    }

    package func send(_ message: OutboundMessage) async -> ProviderAnswer {
        guard case .sms(let text) = message.content else { return ProviderAnswer(.misconfigured, errorCode: "channel") }
        let values = values(text, of: message)
        let body = configuration.body?.filled(values, escaping: configuration.contentType.escaping)
        let result = await client.exchange(request(values), body.map { Array($0.utf8) }, of: message)
        return result.providerAnswer(to: .phone(text.recipient), GatewayAnswer(configuration: configuration).classify)
    }

    private func request(_ values: [GatewayTemplate.Variable: String]) -> ProviderRequest {
        var headers: HTTPHeaders = [configuration.idempotencyHeader: values[.sendID] ?? ""]
        if configuration.body != nil { headers.add(name: "Content-Type", value: configuration.contentType.header) }
        if let login = configuration.basicAuth {
            headers.add(name: "Authorization", value: ProviderRequest.basicAuth(login))
        }
        for header in configuration.headers {
            headers.replaceOrAdd(name: header.name, value: header.value.filled(values, escaping: .none))
        }
        return ProviderRequest(
            to: Target(configuration.url.filled(values, escaping: .url), by: configuration.connection),
            method: HTTPMethod(rawValue: configuration.method.rawValue),
            headers: headers
        )
    }

    private func values(_ text: TextMessage, of message: OutboundMessage) -> [GatewayTemplate.Variable: String] {
        var values: [GatewayTemplate.Variable: String] = [
            .to: text.recipient.e164,
            .toDigits: String(text.recipient.e164.dropFirst()),
            .text: text.text,
            .sendID: message.sendID.description,
            .ttlSeconds: String(max(1, message.validity.components.seconds)),
        ]
        values[.code] = text.code
        let expiresAt = message.expiresAt ?? .now + message.validity
        values[.expiresAt] = "\(expiresAt.rfc3339.prefix(19))Z"
        values[.expiresAtSeconds] = String(expiresAt.microseconds / 1_000_000)
        values[.from] = configuration.from
        values[.secret] = configuration.secret?.revealed
        values[.entityID] = text.registration?.entityID
        values[.templateID] = text.registration?.templateID
        return values
    }
}

extension GatewayConfiguration.ContentType {
    /// The value of `Content-Type`.
    ///
    /// JSON is UTF-8 by definition, and the form type has no charset parameter.
    fileprivate var header: String { self == .text || self == .xml ? "\(rawValue); charset=utf-8" : rawValue }
}

extension GatewayProvider: CustomStringConvertible, CustomReflectable {
    package var description: String { "GatewayProvider(\(name))" }

    /// Shows the configuration only: the client is shared, and its internals change during reflection.
    package var customMirror: Mirror { Mirror(self, children: ["configuration": configuration]) }
}
