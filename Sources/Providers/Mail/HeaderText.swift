// SPDX-License-Identifier: Apache-2.0

import CLibidn2
import Formats
import FoundationEssentials
package import Verification

/// Encodes free text for a mail header: one line, ASCII, and nothing in it that could begin another header.
enum HeaderText {
    /// The text of a subject (RFC 5322 `unstructured`; RFC 2047 encoded words when it is not plain).
    static func unstructured(_ text: String) -> String {
        let text = oneLine(text)
        return isPlain(text) ? text : encodedWords(text)
    }

    /// A display name (RFC 5322 `phrase`): quoted, or RFC 2047 encoded words when it is not plain.
    static func phrase(_ text: String) -> String {
        let text = oneLine(text)
        guard isPlain(text) else { return encodedWords(text) }
        return "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }

    /// The text with control characters and line breaks as spaces, trimmed.
    ///
    /// Encoded words would hide a line break from the server, but a mail program decodes them.
    private static func oneLine(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: line.append(" ")
            default: line.append(scalar)
            }
        }
        var trimmed = String(line).trimmingPrefix { $0 == " " }
        while trimmed.last == " " { trimmed.removeLast() }
        return String(trimmed)
    }

    /// True for a text that needs no encoding and fits on one line with the header's name.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.count <= 60 && text.utf8.allSatisfy { (0x20...0x7e).contains($0) } && !text.contains("=?")
    }

    /// Encoded words of at most 60 characters, one a line; none splits a character.
    private static func encodedWords(_ text: String) -> String {
        var words: [[UInt8]] = [[]]
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            if words[words.count - 1].count + bytes.count > 36 { words.append([]) }
            words[words.count - 1] += bytes
        }
        return words.map { "=?UTF-8?B?\(Data($0).base64EncodedString())?=" }.joined(separator: "\r\n ")
    }
}

/// An e-mail address for mail servers, with its domain in ASCII.
///
/// A domain in another script is converted to its `xn--` form, which every server can look up. Only the part before the
/// `@` may stay non-ASCII, and then a server must support SMTPUTF8 (RFC 6531).
package struct MailAddress: Sendable {
    package let text: String
    package let domain: String

    /// True when only a server with SMTPUTF8 can accept it.
    let needsUTF8: Bool

    /// Converts an address; nil when its domain is invalid by IDNA.
    package init?(_ address: EmailAddress) {
        guard let domain = Self.ascii(address.domain).flatMap({ HostName($0)?.text }) else { return nil }
        self.domain = domain
        text = "\(address.local)@\(domain)"
        needsUTF8 = !address.local.utf8.allSatisfy { $0 < 0x80 }
    }

    private static func ascii(_ domain: String) -> String? {
        if domain.utf8.allSatisfy({ $0 < 0x80 }) { return domain }
        let text = String(unsafeUninitializedCapacity: 256) { buffer in
            // SAFETY: the name ends in a zero, and the answer with its own zero fits into the buffer.
            buffer.withMemoryRebound(to: CChar.self) { max(0, courier_ascii_domain(domain, $0.baseAddress, 256)) }
        }
        return text.isEmpty ? nil : text
    }
}
