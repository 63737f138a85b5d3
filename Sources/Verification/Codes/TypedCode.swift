// SPDX-License-Identifier: Apache-2.0

import Formats

/// Reads the code from text that a person typed or pasted.
///
/// People type the digits that the message shows, and their keyboard adds to them: spaces and dashes, digits of their
/// script, invisible marks, the words around the code. Each wrong guess counts, so text that holds no code must not be
/// read as one. `typedCodes` of `schemas/test-vectors.json` has the same rule for verifiers in any language.
package enum TypedCode {
    /// The numbers of digits that a policy allows.
    package static let lengths = 4...10

    /// The code, or the unchanged token of a link or push; nil if the text holds no code or more than one.
    ///
    /// Digits with only spaces and dashes between them are one group. A group that touches a letter with a case is a
    /// typo, such as an O for a zero. Scripts without case write no space before a number, so their letters may touch
    /// it.
    package static func read(_ text: String, digits lengths: ClosedRange<Int> = lengths) -> String? {
        if let token = token(text) { return token }
        let groups = groups(text.unicodeScalars.compactMap(Mark.init))
        let codes = Set(groups.filter { $0.isApart && lengths.contains($0.digits.utf8.count) }.map(\.digits))
        return codes.count == 1 ? codes.first : nil
    }

    /// The 43 characters of base64url of a link's or push's secret.
    private static func token(_ text: String) -> String? {
        let isOutside = { (scalar: Unicode.Scalar) in scalar.properties.isWhitespace || Mark.isInvisible(scalar) }
        let start = text.unicodeScalars.drop(while: isOutside)
        let token = String(start.prefix(start.count - start.reversed().prefix(while: isOutside).count))
        let dashes = Array("-_".utf8)
        let isToken = token.utf8.count == 43 && token.utf8.allSatisfy { $0.isASCIILetterOrDigit || dashes.contains($0) }
        return isToken ? token : nil
    }

    private struct Group {
        var digits = ""
        var isApart: Bool
    }

    private static func groups(_ marks: [Mark]) -> [Group] {
        var groups: [Group] = []
        var isOpen = false
        for (index, mark) in marks.enumerated() {
            switch mark {
            case .digit(let digit):
                if !isOpen { groups.append(Group(isApart: index == 0 || marks[index - 1] != .letter)) }
                groups[groups.count - 1].digits += String(digit)
                isOpen = true
            case .gap: break
            case .letter:
                if isOpen, case .digit = marks[index - 1] { groups[groups.count - 1].isApart = false }
                isOpen = false
            case .other: isOpen = false
            }
        }
        return groups
    }

    /// A character, classified for the search of a code.
    private enum Mark: Equatable {
        case digit(Int)

        /// A space or a dash.
        case gap

        case letter
        case other

        /// Nil for an invisible character.
        init?(_ scalar: Unicode.Scalar) {
            let properties = scalar.properties
            switch properties.generalCategory {
            case .decimalNumber: self = .digit(Int(properties.numericValue ?? 0))
            case .dashPunctuation: self = .gap
            case _ where properties.isWhitespace || Self.dashes.contains(scalar): self = .gap
            case _ where Self.isInvisible(scalar): return nil
            case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter: self = .letter
            default: self = .other
            }
        }

        /// Characters that some keyboards, such as Japanese ones, type for a dash.
        private static let dashes = Set("\u{2212}\u{30fc}\u{ff70}\u{2500}\u{2d7}\u{2043}".unicodeScalars)

        /// Letters and symbols without a shape: Hangul fillers, and the placeholder of an object that was not pasted.
        private static let blanks = Set("\u{115f}\u{1160}\u{3164}\u{ffa0}\u{fffc}".unicodeScalars)

        static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar.properties.generalCategory {
            case .format, .control, .nonspacingMark, .enclosingMark: true
            default: blanks.contains(scalar)
            }
        }
    }
}
