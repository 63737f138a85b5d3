// SPDX-License-Identifier: Apache-2.0

import Verification

/// A text with places for what differs from message to message: `{"to": "{to}", "text": "{text}"}`.
///
/// A variable is a name of letters in braces without anything else between them. Other braces, such as JSON's, are text.
///
/// It describes itself by its variables: the text around them may hold a key.
package struct GatewayTemplate: Sendable, Redacted {
    /// What a template may name.
    package enum Variable: String, Sendable, CaseIterable {
        /// The number with its `+`.
        case to

        /// The number without its `+`.
        case toDigits

        /// The message, code included.
        case text

        /// The code alone, for gateways that have the text.
        case code

        /// The send's id, under which receipts find it.
        case sendID = "sendId"

        /// What is left of the code's validity, in whole seconds.
        case ttlSeconds

        /// When the code's validity ends, as `2026-11-20T12:34:56Z`, and as seconds since 1970.
        case expiresAt
        case expiresAtSeconds

        /// The configured sender.
        case from

        /// The configured secret.
        case secret

        /// The id of the sender in a registry such as India's (DLT); empty without one.
        case entityID = "entityId"

        /// The id of the text in that registry; empty without one.
        case templateID = "templateId"
    }

    /// A name in braces that is no variable.
    package struct UnknownVariable: Error {
        package let name: String
    }

    /// How values are written into the text.
    package enum Escaping: Sendable {
        /// As they are.
        case none

        /// As inside a JSON string.
        case json

        /// As a text or an attribute's value in XML.
        case xml

        /// As the value of a form's field.
        case form

        /// As a part of an address.
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

    /// The variables that stand in the text.
    package var variables: Set<Variable> {
        Set(
            pieces.compactMap { piece in
                if case .variable(let variable) = piece { variable } else { nil }
            }
        )
    }

    package var description: String { "template of \(variables.map(\.rawValue).sorted().joined(separator: ", "))" }

    /// The text with the values in it; a variable without a value leaves nothing.
    package func filled(_ values: [Variable: String], escaping: Escaping) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .variable(let variable): escaping.applied(to: values[variable] ?? "")
            }
        }.joined()
    }

    /// The name that a closing brace follows, at the place after an opening one.
    private static func name(at rest: Substring) -> Substring? {
        let name = rest.prefix { $0.isASCII && $0.isLetter }
        guard !name.isEmpty, name.utf8.count <= 32, rest[name.endIndex...].first == "}" else { return nil }
        return name
    }
}
