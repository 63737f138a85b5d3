// SPDX-License-Identifier: Apache-2.0

/// The encoding of a text as SMS: its alphabet and its number of segments (3GPP TS 23.038, TS 23.040).
package struct TextEncoding: Sendable, Equatable {
    package enum Alphabet: String, Sendable, Codable {
        case gsm7 = "GSM-7"
        case ucs2 = "UCS-2"
    }

    package let alphabet: Alphabet

    /// The length in septets of GSM-7, or in 16-bit units of UCS-2.
    package let units: Int

    /// The number of segments: one holds 160 septets or 70 units, each of several 153 or 67, and no character is split.
    package let segments: Int

    package init(_ text: String) {
        if let parts = Self.septets(of: text) {
            (alphabet, units, segments) = (.gsm7, parts.units, parts.count)
        } else {
            var parts = Parts(single: 70, several: 67)
            for scalar in text.unicodeScalars { parts.append(UTF16.width(scalar)) }
            (alphabet, units, segments) = (.ucs2, parts.units, parts.count)
        }
    }

    /// True if GSM-7 has the character, in its basic or its extension table.
    package static func hasGSM7(_ scalar: Unicode.Scalar) -> Bool { width(of: scalar) > 0 }

    /// The segments of a text in GSM-7; nil if a character is in neither table.
    private static func septets(of text: String) -> Parts? {
        var parts = Parts(single: 160, several: 153)
        let asciiWidths = asciiWidths
        for scalar in text.unicodeScalars {
            let width = scalar.isASCII ? asciiWidths[Int(scalar.value)] : width(of: scalar)
            if width == 0 { return nil }
            parts.append(width)
        }
        return parts
    }

    /// The septets of a character; 0 if it is in neither table.
    private static func width(of scalar: Unicode.Scalar) -> Int {
        basic.contains(scalar) ? 1 : extended.contains(scalar) ? 2 : 0
    }

    /// The precomputed widths of ASCII characters, which make up nearly all texts.
    private static let asciiWidths = (UInt8(0)..<128).map { width(of: Unicode.Scalar($0)) }

    /// Counts the segments that characters of one or two units fill.
    private struct Parts {
        /// The capacity of a single segment, and of each of several.
        let single: Int
        let several: Int
        private(set) var units = 0
        private var full = 0
        private var last = 0

        init(single: Int, several: Int) {
            self.single = single
            self.several = several
        }

        var count: Int { units <= single ? 1 : full + 1 }

        mutating func append(_ width: Int) {
            units += width
            if last + width > several {
                full += 1
                last = 0
            }
            last += width
        }
    }

    private static let basic = Set(
        """
        @£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&'()*+,-./0123456789:;<=>?\
        ¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà
        """.unicodeScalars
    )
    private static let extended = Set("\u{c}^{}\\[~]|€".unicodeScalars)
}
