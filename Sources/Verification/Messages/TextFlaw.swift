// SPDX-License-Identifier: Apache-2.0

/// The reason to reject text chosen by a caller or operator in a message that people trust.
///
/// A new line could fake the last line that binds a code to a site, a link would appear to come from us, and digits
/// could pass for the code, both to a person and to a phone that fills in codes.
enum TextFlaw: String, Error, Sendable {
    case control = "has a control character, a new line or an invisible mark"
    case atSign = "has an @, which belongs to the line that binds a code to a site"
    case link = "looks like a link"
    case site = "looks like a link to a site"
    case digits = "has four digits or more, which could pass for the code"

    /// The shortest code has four digits, and phones take no shorter run for a code.
    private static let maximumDigits = 3

    /// The first flaw of a text, or nil.
    ///
    /// `points` are the full stops that a phone may take for a domain's; a sentence may end with an ideographic one.
    init?(of text: String, points: Set<UInt32> = everyPoint) {
        let scalars = Array(text.unicodeScalars)
        if scalars.contains(where: Self.isInvisible) {
            self = .control
        } else if scalars.contains(where: { $0 == "@" || $0 == "\u{ff20}" }) {
            self = .atSign
        } else if Self.contains("://", in: scalars) || Self.contains("www.", in: scalars) {
            self = .link
        } else if scalars.count(where: { $0.properties.numericType == .decimal }) > Self.maximumDigits {
            self = .digits
        } else if Self.hasDomain(scalars, points) {
            self = .site
        } else {
            return nil
        }
    }

    /// The characters that act as dots in domain names: ASCII, one dot leader, ideographic, full-width and half-width.
    static let everyPoint: Set<UInt32> = [0x2e, 0x2024, 0x3002, 0xff0e, 0xff61]

    /// True for controls, line and paragraph separators, direction marks and zero-width characters.
    ///
    /// The two joiners are allowed: Persian, Indic scripts and emoji are spelt with them.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: scalar.value != 0x200c && scalar.value != 0x200d
        default: false
        }
    }

    /// True if the scalar modifies the one before it: accents, vowel signs, variation selectors, joiners.
    private static func joinsOthers(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .format, .modifierSymbol: true
        default: false
        }
    }

    /// True if the text contains the lower-case ASCII `marks`, in either case.
    private static func contains(_ marks: String, in scalars: [Unicode.Scalar]) -> Bool {
        let wanted = Array(marks.unicodeScalars)
        guard scalars.count >= wanted.count else { return false }
        return (0...scalars.count - wanted.count).contains { start in
            zip(wanted, scalars[start...]).allSatisfy { mark, scalar in
                let value = scalar.value
                return (0x41...0x5a).contains(value) ? value | 0x20 == mark.value : value == mark.value
            }
        }
    }

    /// True if a part of the text reads like `example.com`.
    ///
    /// Accents and joiners are ignored, so that a name is judged as it is displayed.
    private static func hasDomain(_ scalars: [Unicode.Scalar], _ points: Set<UInt32>) -> Bool {
        guard scalars.contains(where: { points.contains($0.value) }) else { return false }
        return joinsWords(scalars, points) || joinsWords(scalars.filter { !joinsOthers($0) }, points)
    }

    /// True if a dot is between a letter, digit or symbol and two letters.
    private static func joinsWords(_ scalars: [Unicode.Scalar], _ points: Set<UInt32>) -> Bool {
        guard scalars.count >= 4 else { return false }
        return (1..<scalars.count - 2).contains { index in
            guard points.contains(scalars[index].value) else { return false }
            let before = scalars[index - 1].properties
            guard before.isAlphabetic || before.numericType != nil || before.generalCategory == .otherSymbol else {
                return false
            }
            return scalars[index + 1].properties.isAlphabetic && scalars[index + 2].properties.isAlphabetic
        }
    }
}
