// SPDX-License-Identifier: Apache-2.0

/// How to reach one Twilio account.
package struct TwilioConfiguration: Sendable {
    /// Who the message is from.
    package enum Sender: Sendable, Equatable {
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

    /// The account's own token, by which it calls and by which Twilio signs receipts.
    package var authToken: Secret
    package var sender: Sender

    /// The URL for receipts, without query and fragment; the send's id is added as `sendId`.
    package var statusCallback: String?

    package init(
        name: String,
        baseURL: String? = nil,
        accountSid: String,
        authToken: Secret,
        sender: Sender,
        statusCallback: String? = nil
    ) {
        self.name = name
        self.baseURL = baseURL ?? Self.defaultBaseURL
        self.accountSid = accountSid
        self.authToken = authToken
        self.sender = sender
        self.statusCallback = statusCallback
    }
}
