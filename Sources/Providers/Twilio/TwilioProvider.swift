// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1
package import Verification

/// Twilio Programmable Messaging: `POST /2010-04-01/Accounts/{sid}/Messages.json`.
///
/// The API has no idempotency key, so a call whose answer is lost must not be repeated: it is `unknown`.
package struct TwilioProvider: MessageProvider {
    package var name: String { configuration.name }

    private let configuration: TwilioConfiguration
    private let client: ProviderClient
    private let request: ProviderRequest

    /// Creates a provider that uses, but does not own, the client.
    package init(configuration: TwilioConfiguration, client: ProviderClient) {
        self.configuration = configuration
        self.client = client
        request = ProviderRequest(
            to: Target("\(configuration.messages).json", by: configuration.connection),
            headers: ["Content-Type": FormBody.contentType, "Authorization": configuration.authorization]
        )
    }

    package func send(_ message: OutboundMessage) async -> ProviderAnswer {
        guard case .sms(let text) = message.content else { return ProviderAnswer(.misconfigured, errorCode: "channel") }
        let result = await client.exchange(request, form(for: text, of: message), of: message)
        return result.providerAnswer(to: message.content.recipient, TwilioAnswer.classify)
    }

    private func form(for text: TextMessage, of message: OutboundMessage) -> [UInt8] {
        var form = FormBody()
        form.append("To", text.recipient.e164)
        switch configuration.sender {
        case .from(let sender): form.append("From", sender)
        case .messagingService(let sid): form.append("MessagingServiceSid", sid)
        }
        form.append("Body", text.text)
        form.append("ValidityPeriod", String(Self.validityPeriod(message.validity)))
        if let callback = configuration.statusCallback {
            // With the send's id, so that a receipt that overtakes the answer finds its send.
            form.append("StatusCallback", "\(callback)?sendId=\(message.sendID)")
        }
        if configuration.givesFeedback { form.append("ProvideFeedback", "true") }
        return form.bytes
    }

    /// Whole seconds, rounded down, in Twilio's range of 1 to 36,000.
    private static func validityPeriod(_ validity: Duration) -> Int64 {
        min(max(validity.components.seconds, 1), 36_000)
    }
}

extension TwilioProvider: CustomStringConvertible, CustomReflectable {
    package var description: String { "TwilioProvider(\(name))" }

    /// Shows the configuration only: the client is shared, and its internals change during reflection.
    package var customMirror: Mirror { Mirror(self, children: ["configuration": configuration]) }
}
