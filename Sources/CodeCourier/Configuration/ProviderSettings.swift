// SPDX-License-Identifier: Apache-2.0

import Providers
import Verification

/// The settings of one provider.
struct ProviderSettings: Sendable {
    enum Kind: Sendable {
        case twilio(TwilioConfiguration)
        case vonage(VonageConfiguration)
        case sns(SNSConfiguration)

        /// A gateway defined by its configuration.
        case http(GatewayConfiguration)
        case smtp(SMTPConfiguration)
        case apns(APNsConfiguration)

        /// Writes messages to the log, for trials without a provider.
        case log

        /// The kind in the configuration file.
        var entryKind: ProviderKind {
            switch self {
            case .twilio: .twilio
            case .vonage: .vonage
            case .sns: .sns
            case .http: .http
            case .smtp: .smtp
            case .apns: .apns
            case .log: .log
            }
        }
    }

    let name: String
    let kind: Kind

    /// The channel of its messages.
    var channel = Channel.sms

    /// The rate limit of the whole fleet for this provider; nil for no limit.
    var rate: RateLimit?

    /// The signature of its receipts; nil where that is not checked.
    var signature: ReceiptSecrets.Entry?
}

extension ProviderSettings {
    /// Reads the list of providers; a configuration without any is a fault.
    static func read(_ source: ConfigurationSource) -> [ProviderSettings] {
        let entries = source.file.providers
        if entries.isEmpty, !source.file.namesProviders, source.isUnderstood {
            let message = "is required; list at least one in the file, such as { name: main, kind: log }"
            source.faults.report(line: nil, key: "providers", message)
        }
        let providers = entries.compactMap { entry -> ProviderSettings? in
            let rate = entry.optional("rate", .rate, source)
            var settings = settings(entry, source)
            settings?.channel = entry.kind.channel
            settings?.rate = rate
            settings?.signature = signature(entry, source)
            return settings
        }
        if let fault = providers.faultOfAuthorities(systems: SystemAuthorities.path) {
            source.faults.report(line: nil, key: "providers", fault)
        }
        return providers
    }

    private static func settings(_ entry: ProviderEntry, _ source: ConfigurationSource) -> ProviderSettings? {
        switch entry.kind {
        case .twilio: twilio(entry, source).map { ProviderSettings(name: entry.name, kind: .twilio($0)) }
        case .vonage: vonage(entry, source).map { ProviderSettings(name: entry.name, kind: .vonage($0)) }
        case .sns: sns(entry, source).map { ProviderSettings(name: entry.name, kind: .sns($0)) }
        case .http: gateway(entry, source).map { ProviderSettings(name: entry.name, kind: .http($0)) }
        case .log: ProviderSettings(name: entry.name, kind: .log)
        case .smtp: smtp(entry, source).map { ProviderSettings(name: entry.name, kind: .smtp($0)) }
        case .apns: apns(entry, source).map { ProviderSettings(name: entry.name, kind: .apns($0)) }
        case .smpp: nil
        }
    }

    /// The key of the signature: the account's own token for Twilio, a separate secret for Vonage.
    private static func signature(_ entry: ProviderEntry, _ source: ConfigurationSource) -> ReceiptSecrets.Entry? {
        switch entry.kind {
        case .twilio:
            let callbackURL = entry.optional("callbackUrl", .address, source)
            return source.secret(entry.key + ["authToken"]).map {
                ReceiptSecrets.Entry(.twilio, secrets: [Array($0.secret.revealed.utf8)], callbackURL: callbackURL)
            }
        case .vonage:
            let digest = entry.optional("signatureMethod", .choice, source) ?? VonageDigest.sha256
            return source.secret(entry.key + ["signatureSecret"]).map {
                ReceiptSecrets.Entry(.vonage(digest), secrets: [Array($0.secret.revealed.utf8)])
            }
        case .sns, .http, .smpp, .smtp, .apns, .log:
            return nil
        }
    }

    private static func twilio(_ entry: ProviderEntry, _ source: ConfigurationSource) -> TwilioConfiguration? {
        let baseURL = entry.optional("baseURL", .address, source)
        let callback = entry.optional("statusCallback", .address, source)
        let accountSid = entry.required("accountSid", .sid, such: "ACxxx", source)
        let credentials = credentials(entry, accountSid, source)
        let connection = connection(entry, source)
        guard let sender = sender(entry, source), let accountSid, let credentials else { return nil }
        return TwilioConfiguration(
            name: entry.name,
            baseURL: baseURL,
            accountSid: accountSid,
            credentials: credentials,
            sender: sender,
            statusCallback: callback,
            connection: connection
        )
    }

    /// The login: an API key with its secret, or the account's own token.
    private static func credentials(
        _ entry: ProviderEntry,
        _ accountSid: String?,
        _ source: ConfigurationSource
    ) -> TwilioConfiguration.Credentials? {
        let key = entry.optional("apiKeySid", .sid, source)
        guard key != nil || entry.has("apiKeySecret", source) || entry.has("apiKeySid", source) else {
            let token = entry.requiredSecret("authToken", such: "authTokenFile: /run/secrets/twilio", source)
            guard let accountSid, let token else { return nil }
            return TwilioConfiguration.Credentials(username: accountSid, password: token.secret)
        }
        source.reportMissing(entry.key + ["apiKeySid"], such: "SKxxx", line: entry.mapping.value.line)
        let secret = entry.requiredSecret("apiKeySecret", such: "apiKeySecretFile: /run/secrets/twilio-key", source)
        guard let key, let secret else { return nil }
        return TwilioConfiguration.Credentials(username: key, password: secret.secret)
    }

    private static func sender(_ entry: ProviderEntry, _ source: ConfigurationSource) -> TwilioConfiguration.Sender? {
        let fromKey = entry.key + ["from"]
        let serviceKey = entry.key + ["messagingServiceSid"]
        switch (source.setting(fromKey), source.setting(serviceKey)) {
        case (nil, nil):
            let message = "needs from or messagingServiceSid; add one, such as from: \"+15005550006\""
            entry.mapping.value.fault(message)
            return nil
        case (_?, nil): return source.read(fromKey, .sender).map { .from($0) }
        case (nil, _?): return source.read(serviceKey, .sid).map { .messagingService(sid: $0) }
        case (_?, let service?):
            source.report(serviceKey, at: service.origin, "stands beside from; keep one of the two")
            return nil
        }
    }
}

extension [ProviderSettings] {
    /// The channel of each provider by name.
    var channels: [String: Channel] {
        Dictionary(map { ($0.name, $0.channel) }) { first, _ in first }
    }

    /// The signatures of receipts by provider; the only provider of a kind is also found by the kind's name.
    var receiptSecrets: ReceiptSecrets {
        let signatures = compactMap { provider in provider.signature.map { (provider.name, $0) } }
        let names = Set(map(\.name))
        let kinds = Dictionary(grouping: self, by: \.kind.entryKind.rawValue)
        let aliases = kinds.filter { $1.count == 1 && !names.contains($0) }.mapValues { $0[0].name }
        let vocabularies = compactMap { provider in provider.kind.entryKind.vocabulary.map { (provider.name, $0) } }
        return ReceiptSecrets(
            Dictionary(signatures) { first, _ in first },
            aliases: aliases,
            vocabularies: Dictionary(vocabularies) { first, _ in first }
        )
    }

    /// The fleet's rate limits by provider name.
    var rates: [String: RateLimit] {
        Dictionary(compactMap { provider in provider.rate.map { (provider.name, $0) } }) { first, _ in first }
    }
}

extension ProviderKind {
    /// The vocabulary of its receipts' codes, where it is known.
    fileprivate var vocabulary: ReceiptSecrets.Vocabulary? {
        switch self {
        case .twilio: .twilio
        case .vonage: .vonage
        case .sns: .sns
        case .http, .smpp, .smtp, .apns, .log: nil
        }
    }
}

extension ValueRule where Value == String {
    /// The sender of a text message, valid for Twilio and Vonage.
    ///
    /// Networks truncate or reject a name of more than 11 characters. To Twilio, a colon marks another kind of sender.
    static var sender: Self {
        let requirement = """
            must be a phone number such as "+15005550006" or a short code, in quotes, or a name of 1 to 11 letters, digits \
            and blanks
            """
        return Self(requirement: requirement) { text in
            guard let text = ValueRule.text(upTo: 64).parse(text), !text.contains(":") else {
                return ValueRule.text(upTo: 64).parse(text)
            }
            if text.contains(where: \.isLetter) {
                return text.count <= 11 && text.utf8.allSatisfy { $0 < 0x80 } ? text : nil
            }
            let digits = text.hasPrefix("+") ? text.dropFirst() : text[...]
            return (3...15).contains(digits.utf8.count) && digits.allSatisfy { $0.isASCII && $0.isNumber } ? text : nil
        }
    }

    fileprivate static var sid: Self {
        let name = name(upTo: 64)
        return Self(requirement: "must be the id that Twilio's console shows, such as ACxxx", parse: name.parse)
    }
}
