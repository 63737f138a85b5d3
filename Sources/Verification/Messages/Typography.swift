// SPDX-License-Identifier: Apache-2.0

import Formats

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
