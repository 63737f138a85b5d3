// SPDX-License-Identifier: Apache-2.0

import Formats
import Glibc
import Verification

/// An e-mail in its wire format (RFC 5322, MIME): a plain text and an HTML part with the same content.
///
/// All of it is ASCII, except an address that is not (RFC 6532), for which the receiving server must support SMTPUTF8.
struct MailMessage {
    let email: EmailMessage
    let recipient: MailAddress
    let sendID: SendID
    let from: MailAddress
    let date: Timestamp

    /// The `Message-ID` without its brackets: the same for every attempt, so that mailboxes can drop duplicates.
    var messageID: String { "\(sendID)@\(from.domain)" }

    /// The whole message with CR LF line ends.
    ///
    /// The SMTP client doubles dots at the beginning of lines.
    var bytes: [UInt8] {
        // Quoted-printable text never contains "=_", so it cannot contain the boundary.
        let boundary = "=_\(sendID)"
        var bytes = Array(headers(boundary).joined().utf8)
        for (kind, text) in [("plain", email.text), ("html", email.html)] {
            bytes += Array("\r\n--\(boundary)\r\nContent-Type: text/\(kind); charset=utf-8\r\n".utf8)
            bytes += Array("Content-Transfer-Encoding: quoted-printable\r\n\r\n".utf8)
            bytes += QuotedPrintable.encoded(text)
        }
        return bytes + Array("\r\n--\(boundary)--\r\n".utf8)
    }

    private func headers(_ boundary: String) -> [String] {
        let name = HeaderText.phrase(email.senderName)
        return [
            "Date: \(MailDate.text(date))",
            "From: \(name)\r\n <\(from.text)>",
            "To: <\(recipient.text)>",
            "Subject: \(HeaderText.unstructured(email.subject))",
            "Message-ID: <\(messageID)>",
            // Suppresses automatic replies (RFC 3834).
            "Auto-Submitted: auto-generated",
            "MIME-Version: 1.0",
            "Content-Type: multipart/alternative;\r\n boundary=\"\(boundary)\"",
        ].map { $0 + "\r\n" }
    }
}

/// Formats times for mail headers (RFC 5322, section 3.3): `Sat, 21 Nov 2026 05:10:00 +0000`.
enum MailDate {
    static func text(_ time: Timestamp) -> String {
        var seconds = time_t(max(0, time.microseconds / 1_000_000))
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return "Thu, 1 Jan 1970 00:00:00 +0000" }
        let day = days[Int(parts.tm_wday) % 7]
        let month = months[Int(parts.tm_mon) % 12]
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return "\(day), \(parts.tm_mday) \(month) \(parts.tm_year + 1900) \(clock.joined(separator: ":")) +0000"
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
