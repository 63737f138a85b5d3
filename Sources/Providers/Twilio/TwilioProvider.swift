// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1
package import Verification

/// Twilio Programmable Messaging: `POST /2010-04-01/Accounts/{sid}/Messages.json`.
///
/// Twilio takes no idempotency key here, so a call whose answer is lost must not be repeated: it is `unknown`.
package struct TwilioProvider: MessageProvider {
    package var name: String { configuration.name }

    private let configuration: TwilioConfiguration
    private let client: ProviderClient
    private let request: ProviderRequest

    /// A provider over a client that outlives it.
    package init(configuration: TwilioConfiguration, client: ProviderClient) {
        self.configuration = configuration
        self.client = client
        let base = ProviderRequest.base(configuration.baseURL)
        let url = "\(base)/2010-04-01/Accounts/\(FormBody.encoded(configuration.accountSid))/Messages.json"
        let authorization = ProviderRequest.basicAuth(
            username: configuration.credentials.username,
            password: configuration.credentials.password.revealed
        )
        request = ProviderRequest(
            to: Target(url, by: configuration.connection),
            headers: ["Content-Type": FormBody.contentType, "Authorization": authorization]
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
            // With the send's id, so that a receipt finds its send before the answer does.
            form.append("StatusCallback", "\(callback)?sendId=\(message.sendID)")
        }
        return form.bytes
    }

    /// Whole seconds, rounded down, in Twilio's range of 1 to 36,000.
    private static func validityPeriod(_ validity: Duration) -> Int64 {
        min(max(validity.components.seconds, 1), 36_000)
    }
}

extension TwilioProvider: CustomStringConvertible, CustomReflectable {
    package var description: String { "TwilioProvider(\(name))" }

    /// The configuration only: the client is shared, and its insides change while it is looked at.
    package var customMirror: Mirror { Mirror(self, children: ["configuration": configuration]) }
}
