// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// A text with variables that differ from message to message: `{"to": "{to}", "text": "{text}"}`.
///
/// A variable is a name of letters alone in braces. Other braces, such as JSON's, are text.
///
/// The description lists the variables only: the text around them may hold a key.
package struct GatewayTemplate: Sendable, Redacted {
    /// The variables of templates.
    package enum Variable: String, Sendable, CaseIterable {
        /// The number with its `+`.
        case to

        /// The number without its `+`.
        case toDigits

        /// The message, code included.
        case text

        /// The code alone, for gateways that have the text.
        case code

        /// The send's id, by which receipts are matched to the send.
        case sendID = "sendId"

        /// The remaining validity of the code, in whole seconds.
        case ttlSeconds

        /// The end of the code's validity, as `2026-11-20T12:34:56Z`, and as seconds since 1970.
        case expiresAt
        case expiresAtSeconds

        /// The configured sender.
        case from

        case secret

        /// The id of the sender in a registry such as India's DLT; empty without one.
        case entityID = "entityId"

        /// The id of the text in that registry; empty without one.
        case templateID = "templateId"
    }

    /// The template contains a name in braces that is no variable.
    package struct UnknownVariable: Error {
        package let name: String
    }

    /// The escaping of values in the text.
    package enum Escaping: Sendable {
        case none

        /// Escaped for a JSON string.
        case json

        /// Escaped for a text or an attribute's value in XML.
        case xml

        /// Escaped for the value of a form field.
        case form

        /// Escaped for a part of a URL.
        case url
    }

    private enum Piece {
        case text(String)
        case variable(Variable)
    }

    private let pieces: [Piece]

    package init(_ text: String) throws(UnknownVariable) {
        var pieces: [Piece] = []
        var literal = ""
        var rest = Substring(text)
        while let character = rest.popFirst() {
            guard character == "{", let name = Self.name(at: rest) else {
                literal.append(character)
                continue
            }
            guard let variable = Variable(rawValue: String(name)) else { throw UnknownVariable(name: String(name)) }
            pieces.append(.text(literal))
            pieces.append(.variable(variable))
            literal = ""
            rest = rest[name.endIndex...].dropFirst()
        }
        self.pieces = pieces + [.text(literal)]
    }

    package var variables: Set<Variable> {
        Set(
            pieces.compactMap { piece in
                if case .variable(let variable) = piece { variable } else { nil }
            }
        )
    }

    package var description: String { "template of \(variables.map(\.rawValue).sorted().joined(separator: ", "))" }

    /// The text with variables replaced by values; a variable without a value becomes empty.
    package func filled(_ values: [Variable: String], escaping: Escaping) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .variable(let variable): escaping.applied(to: values[variable] ?? "")
            }
        }.joined()
    }

    /// The name from the start of `rest` up to a closing brace; `rest` begins after an opening one.
    private static func name(at rest: Substring) -> Substring? {
        let name = rest.prefix { $0.isASCII && $0.isLetter }
        guard !name.isEmpty, name.utf8.count <= 32, rest[name.endIndex...].first == "}" else { return nil }
        return name
    }
}

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
