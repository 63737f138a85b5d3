// SPDX-License-Identifier: Apache-2.0

import Formats
import Providers
import SMTPClient
import Verification

extension ProviderSettings {
    static func smtp(_ entry: ProviderEntry, _ source: ConfigurationSource) -> SMTPConfiguration? {
        let host = entry.required("host", .mailHost, such: "smtp.example.com", source)
        let from = entry.required("from", .emailAddress, such: "no-reply@example.com", source)
        let port = entry.optional("port", .integer(in: 1...65_535), source)
        let encryption = encryption(entry, source, host: host, port: port)
        let heloName = entry.optional("heloName", .domain, source)
        let authorities = source.authorities(entry.key + ["caFile"])
        let connections = entry.optional("connections", .integer(in: 1...64), source)
        let login = login(entry, source)
        guard let host, let from, let encryption else { return nil }
        let server = SMTPServer(
            host: host,
            port: port ?? defaultPort(encryption),
            encryption: encryption,
            authorities: authorities,
            heloName: heloName ?? from.domain,
            login: login
        )
        return SMTPConfiguration(
            server: server,
            from: from,
            connections: connections ?? SMTPConfiguration.defaultConnections
        )
    }

    /// The ports of RFC 6409 and RFC 8314, and of RFC 5321 for a server on this machine.
    private static func defaultPort(_ encryption: SMTPServer.Encryption) -> Int {
        switch encryption {
        case .startTLS: 587
        case .implicit: 465
        case .none: 25
        }
    }

    /// The encryption: STARTTLS by default, TLS from the start at port 465; none only for a server on this machine.
    ///
    /// With the wrong mode for a port, each side waits for the other to speak first.
    private static func encryption(
        _ entry: ProviderEntry,
        _ source: ConfigurationSource,
        host: String?,
        port: Int?
    ) -> SMTPServer.Encryption? {
        let key = entry.key + ["tls"]
        guard let setting = source.setting(key) else { return port == 465 ? .implicit : .startTLS }
        let encryption = source.read(key, .choice as ValueRule<SMTPServer.Encryption>)
        switch (encryption, port) {
        case (.startTLS, 465):
            source.report(key, at: setting.origin, "must be implicit at port 465, or the port 587")
            return nil
        case (.implicit, 25), (.implicit, 587):
            source.report(key, at: setting.origin, "must be starttls at port \(port ?? 0), or the port 465")
            return nil
        default: break
        }
        let loopback = ["127.0.0.1", "[::1]", "localhost"]
        if encryption == SMTPServer.Encryption.none, let host, !loopback.contains(host) {
            let names = loopback.joined(separator: ", ")
            source.report(key, at: setting.origin, "can be none only where host is one of \(names); use starttls")
            return nil
        }
        return encryption
    }

    private static func login(_ entry: ProviderEntry, _ source: ConfigurationSource) -> SMTPLogin? {
        let line = entry.mapping.value.line
        let nameKey = entry.key + ["username"]
        let passwordKey = entry.key + ["password"]
        let name = source.setting(nameKey)
        let password = source.secret(passwordKey, .phrase)
        switch (name, password) {
        case (nil, nil): return nil
        case (nil, _?): source.reportMissing(nameKey, such: "courier", line: line)
        case (_?, nil): source.reportMissing(passwordKey, such: "passwordFile: /run/secrets/smtp", line: line)
        case (_?, let password?):
            return source.read(nameKey, .text(upTo: 256)).map {
                SMTPLogin(username: $0, password: password.secret.revealed)
            }
        }
        return nil
    }
}

extension ValueRule where Value == MailAddress {
    fileprivate static var emailAddress: Self {
        Self(requirement: "must be an address such as no-reply@example.com") { text in
            EmailAddress(text).flatMap { MailAddress($0) }
        }
    }
}

extension ValueRule where Value == String {
    /// A name or address that can be part of a URL unescaped.
    fileprivate static var mailHost: Self {
        Self(requirement: "must be a host name, an IPv4 address, or an IPv6 address in brackets") { text in
            if text.hasPrefix("["), text.hasSuffix("]") {
                let address = text.dropFirst().dropLast()
                return address.contains(":") && IPAddress(String(address)) != nil ? text : nil
            }
            return (text.utf8.count <= 253 ? text : nil).flatMap { name(upTo: 253).parse($0) }
        }
    }
}
