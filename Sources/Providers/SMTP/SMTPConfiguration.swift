// SPDX-License-Identifier: Apache-2.0

package import SMTPClient

/// How e-mails are sent through one mail server.
package struct SMTPConfiguration: Sendable {
    /// How many messages are on their way at a time unless said otherwise, each over a connection of its own.
    package static let defaultConnections = 4

    package var server: SMTPServer

    /// The sender, in the envelope and in the header.
    package var from: MailAddress
    package var connections: Int

    package init(
        server: SMTPServer,
        from: MailAddress,
        connections: Int = SMTPConfiguration.defaultConnections
    ) {
        self.server = server
        self.from = from
        self.connections = connections
    }
}
