// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1
package import Verification

/// Twilio's message feedback: `POST …/Messages/{MessageSid}/Feedback.json`, for messages with `ProvideFeedback`.
package struct TwilioFeedback: FeedbackProvider {
    package var name: String { configuration.name }

    private let configuration: TwilioConfiguration
    private let client: ProviderClient

    /// Creates one that uses, but does not own, the client.
    init(configuration: TwilioConfiguration, client: ProviderClient) {
        self.configuration = configuration
        self.client = client
    }

    package func confirm(_ message: ConfirmedMessage, within deadline: Duration) async -> ProviderAnswer {
        let path = "\(configuration.messages)/\(FormBody.encoded(message.messageID))/Feedback.json"
        let request = ProviderRequest(
            to: Target(path, by: configuration.connection),
            headers: ["Content-Type": FormBody.contentType, "Authorization": configuration.authorization]
        )
        return await client.report(request, FormBody(["Outcome": "confirmed"]), within: deadline)
    }
}

extension TwilioFeedback: CustomStringConvertible, CustomReflectable {
    package var description: String { "TwilioFeedback(\(name))" }
    package var customMirror: Mirror { Mirror(self, children: ["configuration": configuration]) }
}
