// SPDX-License-Identifier: Apache-2.0

import Formats
import NIOHTTP1
package import Verification

/// Vonage's Conversion API, `POST /conversions/sms`, which an account gets on request.
///
/// Only approvals are reported: a code that nobody types in says nothing of the route that carried it.
package struct VonageConversion: FeedbackProvider {
    package let name: String

    private let apiKey: String
    private let secret: Secret
    private let client: ProviderClient
    private let request: ProviderRequest

    /// Creates one that uses, but does not own, the client; nil unless the account is configured for it.
    init?(configuration: VonageConfiguration, client: ProviderClient) {
        guard let url = configuration.conversionURL,
            case .apiSecret(let apiKey, let secret) = configuration.credentials
        else { return nil }
        name = configuration.name
        (self.apiKey, self.secret, self.client) = (apiKey, secret, client)
        request = ProviderRequest(
            to: Target(url, by: configuration.connection),
            headers: ["Content-Type": FormBody.contentType]
        )
    }

    package func confirm(_ message: ConfirmedMessage, within deadline: Duration) async -> ProviderAnswer {
        // 2026-11-20T12:34:56.789Z, written as 2026-11-20 12:34:56.
        let time = message.approvedAt.rfc3339.prefix(19).replacing("T", with: " ")
        let form = FormBody([
            "api_key": apiKey, "api_secret": secret.revealed, "message-id": message.messageID,
            "delivered": "true",
            "timestamp": String(time),
        ])
        return await client.report(request, form, within: deadline)
    }
}

extension VonageConversion: CustomStringConvertible, CustomReflectable {
    package var description: String { "VonageConversion(\(name))" }
    package var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
