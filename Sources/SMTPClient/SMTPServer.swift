// SPDX-License-Identifier: Apache-2.0

/// The settings of a mail server that messages are submitted to.
package struct SMTPServer: Sendable {
    /// The encryption of the connection; the server's certificate and name are always verified.
    package enum Encryption: String, Sendable, CaseIterable {
        /// Plain first, then TLS by the command STARTTLS, without which nothing is sent.
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

    /// The path of a PEM file with the trusted authorities; nil for those of the system.
    package let authorities: String?

    /// The name of this host in the EHLO command.
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

    /// The address in libcurl's form, whose path is the name for EHLO.
    var url: String {
        "\(encryption == .implicit ? "smtps" : "smtp")://\(host):\(port)/\(heloName)"
    }
}

/// A user and the password, which is never printed.
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

/// One message with its two addresses; its description shows neither.
package struct SMTPEnvelope: Sendable, CustomStringConvertible, CustomReflectable {
    let sender: String
    let recipient: String

    /// True when an address is not ASCII before its `@`: then only a server with SMTPUTF8 (RFC 6531) can take it.
    let needsUTF8: Bool

    /// The message in RFC 5322 format with CR LF line ends, and without dots doubled.
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
