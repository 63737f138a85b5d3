// SPDX-License-Identifier: Apache-2.0

import Formats
import NIOCore

/// Accepts e-mails: fault, record, inbox, answer.
struct MailIntake: Sendable {
    let inbox: Inbox
    let faults: FaultScript
    let record: RecordFile?

    /// The rejection of a recipient for a fault; the code of an `error` is used when it is valid in SMTP.
    static func recipientRefusal(for fault: Fault) -> SMTPSession.Reply? {
        switch fault {
        case .error(let code): SMTPSession.Reply((400...599).contains(code) ? code : 550, "Recipient refused")
        case .reason: SMTPSession.Reply(550, "Recipient refused")
        case .rate: SMTPSession.Reply(450, "Too many messages")
        default: nil
        }
    }

    /// The reply to a complete mail, and true when the connection ends with it; without a reply it is cut.
    func take(
        _ bytes: [UInt8],
        _ envelope: SMTPSession.Envelope,
        fault: Fault?,
        remotePort: Int?,
        on channel: any Channel
    ) async throws -> (reply: SMTPSession.Reply?, isLast: Bool) {
        if fault == .cut(.before) { return (nil, true) }
        let mail = MailArrival(bytes, envelope, remotePort: remotePort)
        if case .status(let status, _, _) = fault {
            try await record?.append(mail.recorded(sid: nil, outcome: fault?.name ?? ""))
            return (SMTPSession.Reply(status, "Scripted error"), false)
        }
        let sid = "EM" + Identifier.hexadecimal(32)
        try await record?.append(mail.recorded(sid: sid, outcome: fault?.name ?? "accepted"))
        await inbox.acceptEmail { mail.email(sid: sid, sequence: $0) }
        switch fault {
        case .delay(let duration), .drip(let duration):
            // The delay is the scripted fault.
            try await Task.sleep(for: duration)
        case .cut:
            return (nil, true)
        case .silence, .endless:
            try await withTaskCancellationHandler {
                try await channel.closeFuture.get()
            } onCancel: {
                channel.close(promise: nil)
            }
            return (nil, true)
        default:
            break
        }
        return (SMTPSession.Reply(250, "OK \(sid)"), false)
    }
}

/// A complete mail, parsed.
struct MailArrival: Sendable {
    private let time = Timestamp.now
    private let envelope: SMTPSession.Envelope
    private let size: Int
    private let mail: ParsedMail
    private let remotePort: Int?

    init(_ bytes: [UInt8], _ envelope: SMTPSession.Envelope, remotePort: Int?) {
        self.envelope = envelope
        self.remotePort = remotePort
        size = bytes.count
        mail = ParsedMail(bytes)
    }

    func email(sid: String, sequence: Int) -> SandboxEmail {
        SandboxEmail(
            sequence: sequence,
            sid: sid,
            messageID: mail.messageID,
            subject: mail.subject,
            from: mail.from ?? envelope.sender,
            to: envelope.recipients,
            text: mail.text,
            html: mail.html,
            links: mail.links,
            code: mail.code,
            receivedAt: time.rfc3339,
            size: size
        )
    }

    func recorded(sid: String?, outcome: String) -> RecordedRequest {
        RecordedRequest(
            kind: .email,
            provider: .smtp,
            time: time.rfc3339,
            sid: sid,
            reference: mail.messageID.map { String($0.prefix { $0 != "@" }) },
            to: envelope.recipients.joined(separator: ","),
            from: envelope.sender,
            body: mail.text ?? mail.html ?? "",
            subject: mail.subject,
            remotePort: remotePort,
            outcome: outcome,
            accepted: sid != nil
        )
    }
}
