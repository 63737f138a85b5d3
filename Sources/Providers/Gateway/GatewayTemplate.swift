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
