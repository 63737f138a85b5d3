// SPDX-License-Identifier: Apache-2.0

package import Logging
import SettingsReading
package import Verification

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
    }

    /// Twilio's own address, without a trailing slash.
    package static let defaultBaseURL = "https://api.twilio.com"

    /// The name of the account in the policy's routes.
    package var name: String
    package var baseURL = TwilioConfiguration.defaultBaseURL
    package var accountSid: String

    package var credentials: Credentials
    package var sender: Sender

    /// The URL for receipts, without query and fragment; the send's id is added as `sendId`.
    package var statusCallback: String?
    package var signature: ReceiptSecrets.Entry?
    package var connection: ConnectionOptions?

    /// True if Twilio is told which messages were used.
    package var givesFeedback = false

    /// The address of the account's messages, without the format's suffix.
    var messages: String {
        "\(ProviderRequest.base(baseURL))/2010-04-01/Accounts/\(FormBody.encoded(accountSid))/Messages"
    }

    /// The value of the header `Authorization`.
    var authorization: String {
        ProviderRequest.basicAuth(username: credentials.username, password: credentials.password.revealed)
    }
}

extension TwilioConfiguration: ProviderModule {
    package static let kind = "twilio"
    package static let keys = [
        "baseURL", "accountSid", "authToken", "authTokenFile", "from", "messagingServiceSid", "statusCallback",
        "callbackUrl", "apiKeySid", "apiKeySecret", "apiKeySecretFile", "proxy", "proxyFile",
        "feedback",
    ]
    package static let receipts: ReceiptFormat? = TwilioCallback.format

    package var trustsSystem: Bool { baseURL.hasPrefix("https://") }

    package init?(_ settings: ProviderReader) {
        let baseURL = settings.optional("baseURL", .address)
        let callback = settings.optional("statusCallback", .address)
        let accountSid = settings.required("accountSid", .sid, such: "ACxxx")
        let credentials = Self.credentials(settings, accountSid)
        let connection = settings.connection()
        let sender = Self.sender(settings)
        let callbackURL = settings.optional("callbackUrl", .address)
        // The account's own token signs, even where calls use an API key.
        let signature = settings.secret("authToken").map {
            ReceiptSecrets.Entry(TwilioSignature(callbackURL: callbackURL), secrets: [Array($0.secret.revealed.utf8)])
        }
        let givesFeedback = settings.optional("feedback", .boolean) ?? false
        guard let sender, let accountSid, let credentials else { return nil }
        self.init(
            name: settings.name,
            baseURL: baseURL ?? Self.defaultBaseURL,
            accountSid: accountSid,
            credentials: credentials,
            sender: sender,
            statusCallback: callback,
            signature: signature,
            connection: connection,
            givesFeedback: givesFeedback
        )
    }

    /// The login: an API key with its secret, or the account's own token.
    private static func credentials(_ settings: ProviderReader, _ accountSid: String?) -> Credentials? {
        let key = settings.optional("apiKeySid", .sid)
        guard key != nil || settings.has("apiKeySecret") || settings.has("apiKeySid") else {
            let token = settings.requiredSecret("authToken", such: "authTokenFile: /run/secrets/twilio")
            guard let accountSid, let token else { return nil }
            return Credentials(username: accountSid, password: token.secret)
        }
        settings.reportMissing("apiKeySid", such: "SKxxx")
        let secret = settings.requiredSecret("apiKeySecret", such: "apiKeySecretFile: /run/secrets/twilio-key")
        guard let key, let secret else { return nil }
        return Credentials(username: key, password: secret.secret)
    }

    private static func sender(_ settings: ProviderReader) -> Sender? {
        switch (settings.setting("from"), settings.setting("messagingServiceSid")) {
        case (nil, nil):
            settings.fault("from", "needs from or messagingServiceSid; add one, such as from: \"+15005550006\"")
            return nil
        case (_?, nil): return settings.optional("from", .sender).map { .from($0) }
        case (nil, _?): return settings.optional("messagingServiceSid", .sid).map { .messagingService(sid: $0) }
        case (_?, _?):
            settings.fault("messagingServiceSid", "stands beside from; keep one of the two")
            return nil
        }
    }

    package func provider(client: ProviderClient, logger: Logger) -> any MessageProvider {
        TwilioProvider(configuration: self, client: client)
    }

    package func feedback(client: ProviderClient) -> (any FeedbackProvider)? {
        givesFeedback ? TwilioFeedback(configuration: self, client: client) : nil
    }
}

extension ValueRule where Value == String {
    fileprivate static var sid: Self {
        let name = name(upTo: 64)
        return Self(requirement: "must be the id that Twilio's console shows, such as ACxxx", parse: name.parse)
    }
}
