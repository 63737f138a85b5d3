// SPDX-License-Identifier: Apache-2.0

import CryptoExtras
import Formats
import FoundationEssentials
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

    /// The address of the Conversion API; nil if Vonage is not told which messages were used.
    package var conversionURL: String?
}

extension VonageConfiguration: ProviderModule {
    package static let kind = "vonage"
    package static let keys = [
        "api", "baseURL", "apiKey", "apiSecret", "apiSecretFile", "applicationId", "privateKey", "privateKeyFile",
        "from", "statusCallback", "signatureSecret", "signatureSecretFile", "signatureMethod", "proxy", "proxyFile",
        "feedback",
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
        let givesFeedback = settings.optional("feedback", .boolean) ?? false
        if givesFeedback, api != .sms {
            settings.fault("feedback", "needs api: sms, whose ids the Conversion API takes; remove one of the two")
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
            connection: connection,
            conversionURL: givesFeedback ? Self.conversionURL(baseURL) : nil
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

    /// Conversions go to another host than messages, unless the base is configured.
    private static func conversionURL(_ baseURL: String?) -> String {
        "\(ProviderRequest.base(baseURL ?? "https://api.nexmo.com"))/conversions/sms"
    }

    package func feedback(client: ProviderClient) -> (any FeedbackProvider)? {
        VonageConversion(configuration: self, client: client)
    }

    package func provider(client: ProviderClient, logger: Logger) -> any MessageProvider {
        VonageProvider(configuration: self, client: client)
    }
}

/// A Vonage application, which authenticates with tokens signed by its RSA key (JWT, RFC 7519, RS256).
package struct VonageApplication: Sendable, Redacted {
    /// The validity of a token, in seconds: a call takes seconds, and the two clocks may differ a little.
    private static let lifetime: Int64 = 300

    package let id: String
    private let key: _RSA.Signing.PrivateKey

    /// Parses a key; nil when the text is no RSA private key of at least 2,048 bits in PEM form.
    package init?(id: String, privateKey: Secret) {
        guard let key = try? _RSA.Signing.PrivateKey(pemRepresentation: privateKey.revealed) else { return nil }
        self.id = id
        self.key = key
    }

    package var description: String { "VonageApplication(\(id))" }

    /// Signs a token for one call; nil only when the key cannot sign.
    ///
    /// `tokenID` becomes the `jti` claim, which Vonage accepts once.
    func token(_ tokenID: UUIDValue, at time: Timestamp) -> String? {
        let seconds = time.microseconds / 1_000_000
        var claims = JSONWriter()
        claims.object { claims in
            claims.member("application_id", id)
            claims.member("iat", seconds)
            claims.member("exp", seconds + Self.lifetime)
            claims.member("jti", tokenID.description)
        }
        var header = JSONWriter()
        header.object { header in
            header.member("alg", "RS256")
            header.member("typ", "JWT")
        }
        return try? JSONWebToken.signed(header: header, claims: claims) { content in
            try key.signature(for: content, padding: .insecurePKCS1v1_5).rawRepresentation
        }
    }
}
