// SPDX-License-Identifier: Apache-2.0

import Verification

/// The kind of a provider: its API or protocol.
enum ProviderKind: String, CaseIterable {
    case twilio
    case vonage
    case sns
    case http
    case smpp
    case smtp
    case apns
    case log

    /// Parses a kind, in any case.
    init?(word: String) { self.init(rawValue: word.lowercased()) }

    /// The channel of its messages.
    var channel: Channel {
        switch self {
        case .twilio, .vonage, .sns, .http, .smpp, .log: .sms
        case .smtp: .email
        case .apns: .apns
        }
    }

    /// The scalar keys of a kind beside `name`, `kind` and `rate`; nil for an unsupported kind.
    var keys: [String]? {
        switch self {
        case .twilio:
            [
                "baseURL", "accountSid", "authToken", "authTokenFile", "from", "messagingServiceSid", "statusCallback",
                "callbackUrl", "apiKeySid", "apiKeySecret", "apiKeySecretFile", "proxy", "proxyFile",
            ]
        case .vonage:
            [
                "api", "baseURL", "apiKey", "apiSecret", "apiSecretFile", "applicationId", "privateKey",
                "privateKeyFile", "from", "statusCallback",
                "signatureSecret", "signatureSecretFile", "signatureMethod", "proxy", "proxyFile",
            ]
        case .sns:
            [
                "region", "baseURL", "accessKeyId", "secretAccessKey", "secretAccessKeyFile", "sessionToken",
                "sessionTokenFile", "senderId", "originationNumber", "smsType", "maxPrice", "proxy",
                "proxyFile",
            ]
        case .http:
            [
                "url", "urlFile", "method", "contentType", "body", "from", "secret", "secretFile", "idempotencyHeader",
                "idempotent", "messageId", "messageIdPattern", "segments", "errorCode", "errorCodePattern",
                "basicAuth", "basicAuthFile", "caFile", "clientCertificate", "clientCertificateFile", "clientKey",
                "clientKeyFile", "proxy", "proxyFile",
            ]
        case .smtp:
            [
                "host", "port", "tls", "caFile", "from", "heloName", "username", "password", "passwordFile",
                "connections",
            ]
        case .apns:
            [
                "baseURL", "sandboxBaseURL", "caFile", "keyId", "teamId", "privateKey", "privateKeyFile", "proxy",
                "proxyFile",
            ]
        case .log: []
        case .smpp: nil
        }
    }

    /// The keys of a kind that are lists or mappings, which only the file can set.
    var structures: [String] {
        self == .http ? ["headers", "answers"] : []
    }

    /// The supported kinds, as the end of a sentence.
    static var supported: String {
        let names = allCases.filter { $0.keys != nil }.map(\.rawValue)
        return "\(names.dropLast().joined(separator: ", ")) or \(names.last ?? "")"
    }
}

/// One element of the file's list of providers.
struct ProviderEntry {
    /// The keys that `PROVIDERS_<NAME>_<KEY>` overrides in the environment.
    static let overridable = ProviderKind.allCases.flatMap { $0.keys ?? [] } + shared

    /// The keys of every kind.
    private static let shared = ["rate"]

    let name: String
    let kind: ProviderKind
    let mapping: YAMLMapping

    /// The key of the provider's settings, in the environment too: by name, not by position.
    var key: SettingKey { ["providers", name] }

    static func read(_ value: YAMLValue) -> [ProviderEntry] {
        var entries: [ProviderEntry] = []
        var taken: Set<String> = []
        for element in value.list(of: "providers `{ name: main, kind: twilio, … }`") ?? [] {
            guard let entry = entry(element) else { continue }
            let variables = entry.variables
            if entries.contains(where: { $0.name == entry.name }) {
                entry.mapping["name"]?.fault("is the name of an earlier provider too; rename one")
            } else if !taken.isDisjoint(with: variables) {
                element.fault("shares an environment variable with an earlier provider; rename one")
            }
            taken.formUnion(variables)
            entries.append(entry)
        }
        return entries
    }

    /// The environment variables of the provider's settings, to detect collisions.
    ///
    /// In variables, `us-main`, `us_main` and `usMain` are the same, and `us_api` with `secret` is `us` with
    /// `apiSecret`.
    var variables: Set<String> {
        Set(((kind.keys ?? []) + Self.shared).map { ConfigurationSource.variableName(key + [$0]) })
    }

    private static func entry(_ element: YAMLValue) -> ProviderEntry? {
        let value = element.peek("kind")
        let kind = value?.scalarText.flatMap { ProviderKind(word: $0) }
        if let kind, kind.keys == nil {
            value?.fault("kind \(kind.rawValue) is not supported by this version; use \(ProviderKind.supported)")
            return nil
        }
        let keys = kind.map { ($0.keys ?? []) + $0.structures + shared } ?? overridable
        guard let mapping = element.mapping(keys: ["name", "kind"] + keys) else { return nil }
        let name = mapping.required("name", such: "main")?.read(.name(upTo: 64))
        guard let read = mapping.required("kind", such: "twilio")?.read(.supportedKind), let name else { return nil }
        return ProviderEntry(name: name, kind: read, mapping: mapping)
    }
}

extension [ProviderEntry] {
    /// The channel of each provider by name.
    var channels: [String: Channel] {
        Dictionary(map { ($0.name, $0.kind.channel) }) { first, _ in first }
    }
}

extension ValueRule where Value == ProviderKind {
    fileprivate static var supportedKind: Self {
        Self(requirement: "must be \(ProviderKind.supported)") { ProviderKind(word: $0) }
    }
}
