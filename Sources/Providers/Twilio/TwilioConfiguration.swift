// SPDX-License-Identifier: Apache-2.0

/// How to reach one Twilio account.
package struct TwilioConfiguration: Sendable {
    /// Who calls: Basic authentication with the account itself or with one of its API keys.
    package enum Credentials: Sendable {
        case authToken(Secret)
        case apiKey(sid: String, secret: Secret)
    }

    /// Who the message is from.
    package enum Sender: Sendable {
        /// A phone number, a short code or an alphanumeric sender.
        case from(String)

        /// A messaging service, which chooses among its senders.
        case messagingService(sid: String)
    }

    /// Twilio's own address, without a trailing slash.
    package static let defaultBaseURL = "https://api.twilio.com"

    /// The name by which the policy's routes call this account.
    package var name: String
    package var baseURL: String
    package var accountSid: String
    package var credentials: Credentials
    package var sender: Sender

    /// The URL for receipts; the send's id is added to its query as `sendId`.
    package var statusCallback: String?

    /// Has Twilio drop the text after delivery (`ContentRetention=discard`); not every account may.
    package var discardsContent: Bool

    /// Has Twilio mask the number after delivery (`AddressRetention=obfuscate`); not every account may.
    package var obfuscatesAddress: Bool

    package init(
        name: String,
        baseURL: String = TwilioConfiguration.defaultBaseURL,
        accountSid: String,
        credentials: Credentials,
        sender: Sender,
        statusCallback: String? = nil,
        discardsContent: Bool = false,
        obfuscatesAddress: Bool = false
    ) {
        self.name = name
        self.baseURL = baseURL
        self.accountSid = accountSid
        self.credentials = credentials
        self.sender = sender
        self.statusCallback = statusCallback
        self.discardsContent = discardsContent
        self.obfuscatesAddress = obfuscatesAddress
    }
}
