// SPDX-License-Identifier: Apache-2.0

import Formats
import Providers
import SMTPClient
import Testing
import Verification

@testable import Providers

let sendIDText = "01890a5d-ac96-774b-bcce-b302099a8057"

func mail(
    subject: String = "Sign in to Acme",
    text: String = "Follow https://example.com/?a=b",
    html: String = "<p>Follow <a href=\"https://example.com/?a=b\">this</a></p>",
    senderName: String = "Acme",
    to recipient: String = "ann@example.org",
    within callDeadline: Duration = .seconds(30),
    leavingWithin maxWait: Duration = .seconds(60)
) throws -> OutboundMessage {
    let email = EmailMessage(
        recipient: try #require(EmailAddress(recipient)),
        subject: subject,
        text: text,
        html: html,
        senderName: senderName
    )
    return OutboundMessage(
        sendID: SendID(try #require(UUIDValue(sendIDText))),
        content: .email(email),
        validity: .seconds(600),
        callDeadline: callDeadline,
        leaveBy: .now + maxWait
    )
}

func mailProvider(
    host: String = "127.0.0.1",
    port: Int,
    encryption: SMTPServer.Encryption = .none,
    authorities: String? = nil,
    login: SMTPLogin? = nil,
    from: String = "no-reply@example.com",
    connections: Int = 4
) throws -> SMTPProvider {
    let server = SMTPServer(
        host: host,
        port: port,
        encryption: encryption,
        authorities: authorities,
        heloName: "courier.example.com",
        login: login
    )
    let from = try #require(EmailAddress(from).flatMap { MailAddress($0) })
    let configuration = SMTPConfiguration(name: "mail", server: server, from: from, connections: connections)
    return SMTPProvider(configuration: configuration)
}
