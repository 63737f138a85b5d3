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

/// Encodes text as quoted-printable (RFC 2045, section 6.7): ASCII in lines of at most 76 characters.
enum QuotedPrintable {
    /// The encoded text; every kind of line break becomes CR LF.
    static func encoded(_ text: String) -> [UInt8] {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count * 5 / 4)
        // A CR LF is one `Character`, so the split sees it as one line break.
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: isLineBreak).enumerated() {
            if index > 0 { encoded += lineBreak }
            append(line, to: &encoded)
        }
        return encoded
    }

    private static func isLineBreak(_ character: Character) -> Bool {
        character == "\r\n" || character == "\n" || character == "\r"
    }

    private static func append(_ line: Substring, to encoded: inout [UInt8]) {
        var width = 0
        var rest = line.utf8
        while let byte = rest.popFirst() {
            let unit = unit(byte, isLast: rest.isEmpty)
            // The 76th column is reserved for the soft line break "=".
            if width + unit.count > 75 {
                encoded.append(UInt8(ascii: "="))
                encoded += lineBreak
                width = 0
            }
            encoded += unit
            width += unit.count
        }
    }

    /// A byte as itself or as `=XX`; white space at the end of a line is escaped because servers strip it.
    private static func unit(_ byte: UInt8, isLast: Bool) -> [UInt8] {
        switch byte {
        case UInt8(ascii: "="): break
        case 0x21...0x7e: return [byte]
        case UInt8(ascii: " ") where !isLast, UInt8(ascii: "\t") where !isLast: return [byte]
        default: break
        }
        return [UInt8(ascii: "="), upperHexDigits[Int(byte >> 4)], upperHexDigits[Int(byte & 15)]]
    }

    private static let lineBreak = Array("\r\n".utf8)
}
