// SPDX-License-Identifier: Apache-2.0

/// Settings of one Twilio account.
package struct TwilioConfiguration: Sendable {
    /// The sender of the messages.
    package enum Sender: Sendable, Equatable {
        /// A phone number, a short code or an alphanumeric sender.
        case from(String)

        /// A messaging service, which selects one of its senders.
        case messagingService(sid: String)
    }

    /// The login: the account with its token, or an API key with its secret, which can be revoked separately.
    package struct Credentials: Sendable {
        package let username: String
        package let password: Secret

        package init(username: String, password: Secret) {
            self.username = username
            self.password = password
        }
    }

    /// Twilio's own address, without a trailing slash.
    package static let defaultBaseURL = "https://api.twilio.com"

    /// The name of the account in the policy's routes.
    package var name: String
    package var baseURL: String
    package var accountSid: String

    package var credentials: Credentials
    package var sender: Sender

    /// The URL for receipts, without query and fragment; the send's id is added as `sendId`.
    package var statusCallback: String?
    package var connection: ConnectionOptions?

    package init(
        name: String,
        baseURL: String? = nil,
        accountSid: String,
        credentials: Credentials,
        sender: Sender,
        statusCallback: String? = nil,
        connection: ConnectionOptions? = nil
    ) {
        self.connection = connection
        self.name = name
        self.baseURL = baseURL ?? Self.defaultBaseURL
        self.accountSid = accountSid
        self.credentials = credentials
        self.sender = sender
        self.statusCallback = statusCallback
    }
}
