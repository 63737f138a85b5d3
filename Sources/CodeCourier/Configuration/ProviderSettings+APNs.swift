// SPDX-License-Identifier: Apache-2.0

import Providers

extension ProviderSettings {
    static func apns(_ entry: ProviderEntry, _ source: ConfigurationSource) -> APNsConfiguration? {
        let keyID = entry.required("keyId", .appleID, such: "ABC123DEFG", source)
        let teamID = entry.required("teamId", .appleID, such: "DEF123GHIJ", source)
        let key = signingKey(entry, source)
        let baseURL = entry.optional("baseURL", .secureAddress, source)
        let sandboxBaseURL = entry.optional("sandboxBaseURL", .secureAddress, source)
        let authorities = source.authorities(entry.key + ["caFile"])
        guard let keyID, let teamID, let key else { return nil }
        return APNsConfiguration(
            keyID: keyID,
            teamID: teamID,
            key: key,
            baseURL: baseURL ?? APNsConfiguration.defaultBaseURL,
            sandboxBaseURL: sandboxBaseURL ?? APNsConfiguration.defaultSandboxBaseURL,
            authorities: authorities,
            proxy: proxy(entry, source)
        )
    }

    private static func signingKey(_ entry: ProviderEntry, _ source: ConfigurationSource) -> APNsSigningKey? {
        let example = "privateKeyFile: /run/secrets/apns.p8"
        guard let setting = entry.requiredSecret("privateKey", .lines, such: example, source) else { return nil }
        if let signingKey = APNsSigningKey(pem: setting.secret) { return signingKey }
        source.report(
            setting.key,
            at: setting.origin,
            "must be the .p8 key that Apple's site gives, a P-256 key in PEM"
        )
        return nil
    }
}

extension ValueRule where Value == String {
    fileprivate static var appleID: Self {
        let name = name(upTo: 64)
        return Self(requirement: "must be the id that Apple's site shows, such as ABC123DEFG", parse: name.parse)
    }

    /// An address with TLS: tokens and secrets are sent to it, and TLS also negotiates HTTP/2.
    fileprivate static var secureAddress: Self {
        Self(requirement: "must be an address such as https://host:port, without user, query or fragment") { text in
            text.hasPrefix("https://") ? address.parse(text) : nil
        }
    }
}
