// SPDX-License-Identifier: Apache-2.0

import Providers

extension ProviderSettings {
    /// The options of connections to an HTTP provider; nil where none is set.
    static func connection(_ entry: ProviderEntry, _ source: ConfigurationSource) -> ConnectionOptions? {
        ConnectionOptions(
            authorities: source.authorities(entry.key + ["caFile"]),
            identity: identity(entry, source),
            proxy: proxy(entry, source)
        )
    }

    private static func identity(_ entry: ProviderEntry, _ source: ConfigurationSource) -> ClientIdentity? {
        let key = source.secret(entry.key + ["clientKey"], .lines)
        guard let certificate = source.secret(entry.key + ["clientCertificate"], .lines) else {
            if key != nil {
                let name = entry.key + ["clientCertificate"]
                source.reportMissing(
                    name,
                    such: "clientCertificateFile: /run/secrets/client.pem",
                    line: entry.mapping.value.line
                )
            }
            return nil
        }
        if let identity = ClientIdentity(certificate: certificate.secret, key: key?.secret) { return identity }
        let message = "must be a certificate in PEM, with its key in the same text or as clientKey"
        source.report(certificate.key, at: certificate.origin, message)
        return nil
    }

    static func proxy(_ entry: ProviderEntry, _ source: ConfigurationSource) -> ProxyAddress? {
        guard let setting = source.secret(entry.key + ["proxy"]) else { return nil }
        if let proxy = ProxyAddress(setting.secret.revealed) { return proxy }
        let message = "must be the address of an HTTP proxy, such as http://proxy.example.com:3128"
        source.report(setting.key, at: setting.origin, message)
        return nil
    }
}
