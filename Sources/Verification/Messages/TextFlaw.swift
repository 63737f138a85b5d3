// SPDX-License-Identifier: Apache-2.0

import Formats

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

/// Normalises a name, so that it does not change a message's encoding.
///
/// Word processors and phones insert curly quotes, long dashes and invisible marks, and some systems decompose accented
/// letters. A single such character turns a GSM-7 message into UCS-2, with less than half the capacity.
enum Typography {
    /// The name in composed letters, without invisible marks and, if all else is in GSM-7, with plain punctuation.
    ///
    /// Joiners are kept in other names: Persian, Indic scripts and emoji are spelt with them.
    static func plain(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 >= 0x80 || $0 == UInt8(ascii: "`") }) else { return name }
        let composed = String(name.map(compose)).unicodeScalars.filter { !isInvisible($0) }
        var plain = ""
        for scalar in composed where !joiners.contains(scalar) { plain += marks[scalar] ?? String(scalar) }
        return TextEncoding(plain).alphabet == .gsm7 ? plain : String(String.UnicodeScalarView(composed))
    }

    /// The composed letters: canonically equivalent characters are equal in Swift, so a decomposed letter finds its
    /// composed form in the set.
    private static let composedForms: Set<Character> = {
        let blocks: [ClosedRange<UInt32>] = [
            0x20...0x24f, 0x370...0x52f, 0x1e00...0x1fff, 0x3041...0x30ff, 0xac00...0xd7a3,
        ]
        return Set(blocks.joined().compactMap { Unicode.Scalar($0) }.map { Character($0) })
    }()

    private static func compose(_ character: Character) -> Character {
        guard !character.isASCII, let index = composedForms.firstIndex(of: character) else { return character }
        return composedForms[index]
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .format && !joiners.contains(scalar)
    }

    private static let joiners = Set("\u{200c}\u{200d}".unicodeScalars)

    /// Typographic marks, each with its plain replacement.
    private static let marks: [Unicode.Scalar: String] = {
        let groups: [(String, String)] = [
            ("'", "‘’‚‛′ʹʻʼʽ`´‹›＇"), ("\"", "“”„‟″«»＂"), ("-", "‐‑‒–—―−﹘﹣－"), ("...", "…"),
            (" ", "\u{a0}\u{1680}\u{2000}\u{2001}\u{2002}\u{2003}\u{2004}\u{2005}\u{2006}\u{2007}\u{2008}\u{2009}"),
            (" ", "\u{200a}\u{202f}\u{205f}\u{3000}"),
        ]
        return groups.reduce(into: [:]) { marks, group in
            for scalar in group.1.unicodeScalars { marks[scalar] = group.0 }
        }
    }()
}
