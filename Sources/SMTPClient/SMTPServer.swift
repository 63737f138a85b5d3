// SPDX-License-Identifier: Apache-2.0

/// A mail server that takes messages from us, and how we speak to it.
package struct SMTPServer: Sendable {
    /// How the connection is made secret; the server's certificate and name are always checked.
    package enum Encryption: String, Sendable, CaseIterable {
        /// Plain first, then TLS by the command STARTTLS: without it nothing is sent.
        case startTLS = "starttls"

        /// TLS from the first byte.
        case implicit

        /// No TLS, for a server on this machine.
        case none
    }

    /// A name, an IPv4 address, or an IPv6 address in brackets.
    package let host: String
    package let port: Int
    package let encryption: Encryption

    /// The path of a PEM file with the authorities to trust; nil for those of the system.
    package let authorities: String?

    /// How we name ourselves to the server.
    package let heloName: String
    package let login: SMTPLogin?

    package init(
        host: String,
        port: Int,
        encryption: Encryption,
        authorities: String? = nil,
        heloName: String,
        login: SMTPLogin? = nil
    ) {
        self.host = host
        self.port = port
        self.encryption = encryption
        self.authorities = authorities
        self.heloName = heloName
        self.login = login
    }

    /// The address in libcurl's form, whose path is the name to introduce ourselves by.
    var url: String {
        "\(encryption == .implicit ? "smtps" : "smtp")://\(host):\(port)/\(heloName)"
    }
}

/// A user and the password, which is never shown.
package struct SMTPLogin: Sendable, CustomStringConvertible, CustomReflectable {
    package let username: String
    let password: String

    package init(username: String, password: String) {
        self.username = username
        self.password = password
    }

    package var description: String { "SMTPLogin(\(username))" }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// One message with its two addresses; it never shows any of them.
package struct SMTPEnvelope: Sendable, CustomStringConvertible, CustomReflectable {
    let sender: String
    let recipient: String

    /// Whether an address is not all ASCII before its `@`: then only a server with SMTPUTF8 (RFC 6531) can take it.
    let needsUTF8: Bool

    /// The message as RFC 5322 writes it, lines ended by CR LF, dots as they are.
    let content: [UInt8]

    package init(sender: String, recipient: String, needsUTF8: Bool = false, content: [UInt8]) {
        self.sender = sender
        self.recipient = recipient
        self.needsUTF8 = needsUTF8
        self.content = content
    }

    package var description: String { "SMTPEnvelope(\(content.count) bytes)" }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
