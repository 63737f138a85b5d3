// SPDX-License-Identifier: Apache-2.0

import Formats
package import Logging
package import SMTPClient
import SettingsReading
package import Verification

/// Settings for e-mails through one mail server.
package struct SMTPConfiguration: Sendable {
    package var name: String
    package var server: SMTPServer

    /// The sender, both in the envelope and in the `From` header.
    package var from: MailAddress

    /// The number of messages in flight, each over a connection of its own.
    package var connections = 4
}

extension SMTPConfiguration: ProviderModule {
    package static let kind = "smtp"
    package static let channel = Channel.email
    package static let keys = [
        "host", "port", "tls", "caFile", "from", "heloName", "username", "password", "passwordFile", "connections",
    ]

    package var trustsSystem: Bool { server.encryption != .none && server.authorities == nil }

    package init?(_ settings: ProviderReader) {
        let host = settings.required("host", .mailHost, such: "smtp.example.com")
        let from = settings.required("from", .emailAddress, such: "no-reply@example.com")
        let port = settings.optional("port", .integer(in: 1...65_535))
        let encryption = Self.encryption(settings, host: host, port: port)
        let heloName = settings.optional("heloName", .domain)
        let authorities = settings.authorities()
        let connections = settings.optional("connections", .integer(in: 1...64))
        let login = Self.login(settings)
        guard let host, let from, let encryption else { return nil }
        let server = SMTPServer(
            host: host,
            port: port ?? Self.defaultPort(encryption),
            encryption: encryption,
            authorities: authorities,
            heloName: heloName ?? from.domain,
            login: login
        )
        self.init(name: settings.name, server: server, from: from)
        if let connections { self.connections = connections }
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
    private static func encryption(_ settings: ProviderReader, host: String?, port: Int?) -> SMTPServer.Encryption? {
        guard settings.setting("tls") != nil else { return port == 465 ? .implicit : .startTLS }
        let encryption = settings.optional("tls", .choice as ValueRule<SMTPServer.Encryption>)
        switch (encryption, port) {
        case (.startTLS, 465):
            settings.fault("tls", "must be implicit at port 465, or the port 587")
            return nil
        case (.implicit, 25), (.implicit, 587):
            settings.fault("tls", "must be starttls at port \(port ?? 0), or the port 465")
            return nil
        default: break
        }
        let loopback = ["127.0.0.1", "[::1]", "localhost"]
        if encryption == SMTPServer.Encryption.none, let host, !loopback.contains(host) {
            let names = loopback.joined(separator: ", ")
            settings.fault("tls", "can be none only where host is one of \(names); use starttls")
            return nil
        }
        return encryption
    }

    private static func login(_ settings: ProviderReader) -> SMTPLogin? {
        let hasName = settings.setting("username") != nil
        guard let password = settings.secret("password", .phrase) else {
            if hasName { settings.reportMissing("password", such: "passwordFile: /run/secrets/smtp") }
            return nil
        }
        return settings.required("username", .text(upTo: 256), such: "courier").map {
            SMTPLogin(username: $0, password: password.secret.revealed)
        }
    }

    package func provider(client: ProviderClient, logger: Logger) -> any MessageProvider {
        SMTPProvider(configuration: self)
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
