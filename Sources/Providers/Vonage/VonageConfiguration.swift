// SPDX-License-Identifier: Apache-2.0

/// Settings of one Vonage account.
package struct VonageConfiguration: Sendable {
    /// The API of Vonage that takes the messages.
    package enum API: String, Sendable, CaseIterable {
        /// The SMS API, `POST /sms/json`.
        case sms

        /// The Messages API, `POST /v1/messages`.
        case messages

        /// Vonage's own address of the API, without a trailing slash.
        package var defaultBaseURL: String {
            switch self {
            case .sms: "https://rest.nexmo.com"
            case .messages: "https://api.nexmo.com"
            }
        }
    }

    /// The login of the account.
    package enum Credentials: Sendable {
        case apiSecret(apiKey: String, secret: Secret)

        /// An application with its private key, for the Messages API.
        case application(VonageApplication)
    }

    /// The name of the account in the policy's routes.
    package var name: String
    package var api: API
    package var baseURL: String
    package var credentials: Credentials

    /// A phone number, with or without `+`, or an alphanumeric sender.
    package var from: String

    /// The URL for receipts, instead of the account's; receipts carry the send's id as the client reference.
    package var callback: String?
    package var connection: ConnectionOptions?

    package init(
        name: String,
        api: API = .sms,
        baseURL: String? = nil,
        credentials: Credentials,
        from: String,
        callback: String? = nil,
        connection: ConnectionOptions? = nil
    ) {
        self.connection = connection
        self.name = name
        self.api = api
        self.baseURL = baseURL ?? api.defaultBaseURL
        self.credentials = credentials
        self.from = from
        self.callback = callback
    }
}
