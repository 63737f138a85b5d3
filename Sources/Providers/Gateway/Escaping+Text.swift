// SPDX-License-Identifier: Apache-2.0

import Verification

extension GatewayTemplate.Escaping {
    func applied(to text: String) -> String {
        switch self {
        case .none: return text
        case .form: return FormBody.encoded(text)
        // In an address a space is %20 everywhere, and a plus in a form alone.
        case .url: return FormBody.encoded(text).replacing("+", with: "%20").replacing("*", with: "%2A")
        case .xml: return Self.escapedForXML(text)
        case .json:
            var writer = JSONWriter()
            writer.element(text)
            return String(decoding: writer.bytes.dropFirst().dropLast(), as: UTF8.self)
        }
    }

    /// The text with its marks as entities, so that it holds between tags and in either kind of quotes.
    ///
    /// Line breaks are written by their number, since a reader makes them blanks in an attribute. What XML 1.0 has no way to
    /// say is left out.
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
