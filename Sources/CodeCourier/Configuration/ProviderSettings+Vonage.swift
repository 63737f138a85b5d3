// SPDX-License-Identifier: Apache-2.0

import Providers

extension ProviderSettings {
    static func vonage(_ entry: ProviderEntry, _ source: ConfigurationSource) -> VonageConfiguration? {
        let api = entry.optional("api", .choice, source) ?? VonageConfiguration.API.sms
        let baseURL = entry.optional("baseURL", .address, source)
        let callback = entry.optional("statusCallback", .address, source)
        let from = entry.required("from", .sender, such: "Acme", source)
        guard let credentials = credentials(entry, api, source), let from else { return nil }
        return VonageConfiguration(
            name: entry.name,
            api: api,
            baseURL: baseURL,
            credentials: credentials,
            from: from,
            callback: callback,
            connection: connection(entry, source)
        )
    }

    /// The login: an application where one is configured, else the account.
    private static func credentials(
        _ entry: ProviderEntry,
        _ api: VonageConfiguration.API,
        _ source: ConfigurationSource
    ) -> VonageConfiguration.Credentials? {
        guard entry.has("applicationId", source) || entry.has("privateKey", source) else {
            let key = entry.required("apiKey", .name(upTo: 64), such: "abcd1234", source)
            let secret = entry.requiredSecret("apiSecret", such: "apiSecretFile: /run/secrets/vonage", source)
            guard let key, let secret else { return nil }
            return .apiSecret(apiKey: key, secret: secret.secret)
        }
        if api == .sms {
            entry.fault("applicationId", "needs api: messages; add it, or use apiKey and apiSecret", source)
        }
        for name in ["apiKey", "apiSecret"] where entry.has(name, source) {
            entry.fault(name, "stands beside applicationId; keep one of the two ways to authenticate", source)
        }
        let id = entry.required("applicationId", .name(upTo: 64), such: "78d335fa-…", source)
        let key = entry.requiredSecret("privateKey", .lines, such: "privateKeyFile: /run/secrets/vonage.pem", source)
        guard let id, let key else { return nil }
        guard let application = VonageApplication(id: id, privateKey: key.secret) else {
            source.report(key.key, at: key.origin, "must be an RSA private key of 2048 bits or more, in PEM form")
            return nil
        }
        return .application(application)
    }
}
