// SPDX-License-Identifier: Apache-2.0

package import SMTPClient

/// Settings for e-mails through one mail server.
package struct SMTPConfiguration: Sendable {
    /// The default number of messages in flight, each over a connection of its own.
    package static let defaultConnections = 4

    package var server: SMTPServer

    /// The sender, both in the envelope and in the `From` header.
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
