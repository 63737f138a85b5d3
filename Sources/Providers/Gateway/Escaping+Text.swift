// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

extension GatewayTemplate.Escaping {
    func applied(to text: String) -> String {
        switch self {
        case .none: return text
        case .form: return FormBody.encoded(text)
        // In a URL a space is %20 everywhere; a plus means a space only in forms.
        case .url: return FormBody.encoded(text).replacing("+", with: "%20").replacing("*", with: "%2A")
        case .xml: return Self.escapedForXML(text)
        case .json:
            var writer = JSONWriter()
            writer.element(text)
            return String(decoding: writer.bytes.dropFirst().dropLast(), as: UTF8.self)
        }
    }

    /// The text with XML's special characters as entities, valid between tags and in either kind of quotes.
    ///
    /// Line breaks become numeric references, since a parser turns them into blanks in an attribute. Characters that
    /// XML 1.0 cannot represent are dropped.
    private static func escapedForXML(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&apos;"
            case "\t", "\n", "\r": escaped += "&#\(scalar.value);"
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": break
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
