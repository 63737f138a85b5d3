// SPDX-License-Identifier: Apache-2.0

package import Logging
import SettingsReading
package import Verification

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
    package var api = API.sms
    package var baseURL: String
    package var credentials: Credentials

    /// A phone number, with or without `+`, or an alphanumeric sender.
    package var from: String

    /// The URL for receipts, instead of the account's; receipts carry the send's id as the client reference.
    package var callback: String?
    package var signature: ReceiptSecrets.Entry?
    package var connection: ConnectionOptions?
}

extension VonageConfiguration: ProviderModule {
    package static let kind = "vonage"
    package static let keys = [
        "api", "baseURL", "apiKey", "apiSecret", "apiSecretFile", "applicationId", "privateKey", "privateKeyFile",
        "from", "statusCallback", "signatureSecret", "signatureSecretFile", "signatureMethod", "proxy", "proxyFile",
    ]
    package static let receipts: ReceiptFormat? = ReceiptFormat(
        read: { VonageReceipt.read($0) ?? VonageMessageStatus.read($0) },
        reason: { VonageReceipt.reasons[$0] ?? VonageMessageStatus.reasons[$0] }
    )

    package var trustsSystem: Bool { baseURL.hasPrefix("https://") }

    package init?(_ settings: ProviderReader) {
        let api = settings.optional("api", .choice) ?? API.sms
        let baseURL = settings.optional("baseURL", .address)
        let callback = settings.optional("statusCallback", .address)
        let from = settings.required("from", .sender, such: "Acme")
        let credentials = Self.credentials(settings, api)
        let connection = settings.connection()
        let digest = settings.optional("signatureMethod", .choice) ?? VonageSignature.Digest.sha256
        let signature = settings.secret("signatureSecret").map {
            ReceiptSecrets.Entry(VonageSignature(digest: digest), secrets: [Array($0.secret.revealed.utf8)])
        }
        guard let credentials, let from else { return nil }
        self.init(
            name: settings.name,
            api: api,
            baseURL: baseURL ?? api.defaultBaseURL,
            credentials: credentials,
            from: from,
            callback: callback,
            signature: signature,
            connection: connection
        )
    }

    /// The login: an application where one is configured, else the account.
    private static func credentials(_ settings: ProviderReader, _ api: API) -> Credentials? {
        guard settings.has("applicationId") || settings.has("privateKey") else {
            let key = settings.required("apiKey", .name(upTo: 64), such: "abcd1234")
            let secret = settings.requiredSecret("apiSecret", such: "apiSecretFile: /run/secrets/vonage")
            guard let key, let secret else { return nil }
            return .apiSecret(apiKey: key, secret: secret.secret)
        }
        if api == .sms {
            settings.fault("applicationId", "needs api: messages; add it, or use apiKey and apiSecret")
        }
        for name in ["apiKey", "apiSecret"] where settings.has(name) {
            settings.fault(name, "stands beside applicationId; keep one of the two ways to authenticate")
        }
        let id = settings.required("applicationId", .name(upTo: 64), such: "78d335fa-…")
        let key = settings.requiredSecret("privateKey", .lines, such: "privateKeyFile: /run/secrets/vonage.pem")
        guard let id, let key else { return nil }
        guard let application = VonageApplication(id: id, privateKey: key.secret) else {
            settings.fault(key, "must be an RSA private key of 2048 bits or more, in PEM form")
            return nil
        }
        return .application(application)
    }

    package func provider(client: ProviderClient, logger: Logger) -> any MessageProvider {
        VonageProvider(configuration: self, client: client)
    }
}
