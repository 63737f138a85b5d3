// SPDX-License-Identifier: Apache-2.0

/// Reads the code from what a person typed or pasted.
///
/// People type what the message shows and what their keyboard makes of it: spaces and dashes, the digits of their
/// script, marks that nobody sees, the words around the code. Each wrong guess counts, so what cannot be a code must
/// not become one. `typedCodes` of `schemas/test-vectors.json` is the same rule for verifiers in any language.
package enum TypedCode {
    /// The numbers of digits that a policy allows.
    package static let lengths = 4...10

    /// The code, or the token of a link or push as it is; nil where the text holds no code or more than one.
    ///
    /// Digits with nothing but spaces and dashes between them are one group. A group that a letter with a case touches is
    /// a slip, such as an O for a zero. Other scripts write no space before a number, so their letters may touch it.
    package static func read(_ text: String, digits lengths: ClosedRange<Int> = lengths) -> String? {
        if let token = token(text) { return token }
        let groups = groups(text.unicodeScalars.compactMap(Mark.init))
        let codes = Set(groups.filter { $0.isApart && lengths.contains($0.digits.utf8.count) }.map(\.digits))
        return codes.count == 1 ? codes.first : nil
    }

    /// The 43 characters of base64url that a link or a push carries.
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

    /// One character, as far as it matters to a code.
    private enum Mark: Equatable {
        case digit(Int)

        /// A space or a dash.
        case gap

        /// A letter that has a case.
        case letter
        case other

        /// Nil for what nobody sees.
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

        /// Marks that stand for a dash on some keyboards, such as Japanese ones.
        private static let dashes = Set("\u{2212}\u{30fc}\u{ff70}\u{2500}\u{2d7}\u{2043}".unicodeScalars)

        /// Letters and symbols without a shape: fillers of Hangul, and the place of something that was not pasted.
        private static let blanks = Set("\u{115f}\u{1160}\u{3164}\u{ffa0}\u{fffc}".unicodeScalars)

        static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar.properties.generalCategory {
            case .format, .control, .nonspacingMark, .enclosingMark: true
            default: blanks.contains(scalar)
            }
        }
    }
}
