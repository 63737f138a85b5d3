// SPDX-License-Identifier: Apache-2.0

/// The size of a piece of text in either alphabet; sizes add up as texts are joined.
///
/// So the fit of a text is known before it is composed, and a template's longest text before there is a code.
package struct TextSize: Sendable, Equatable {
    /// The length in GSM-7; nil if a character is not in GSM-7, which makes the whole message UCS-2.
    package let septets: Int?
    package let units: Int

    /// The capacity of one segment, 140 bytes (3GPP TS 23.038).
    package static let maximumSeptets = 160
    package static let maximumUnits = 70

    private init(septets: Int?, units: Int) {
        self.septets = septets
        self.units = units
    }

    package init(_ text: String) {
        let encoding = TextEncoding(text)
        self.init(septets: encoding.alphabet == .gsm7 ? encoding.units : nil, units: text.utf16.count)
    }

    /// The size of that many digits or other characters of GSM-7's basic table.
    package static func plain(_ count: Int) -> TextSize {
        TextSize(septets: count, units: count)
    }

    package static func + (left: TextSize, right: TextSize) -> TextSize {
        let septets = left.septets.flatMap { mine in right.septets.map { mine + $0 } }
        return TextSize(septets: septets, units: left.units + right.units)
    }

    package static func += (left: inout TextSize, right: TextSize) {
        left = left + right
    }

    package var fitsOneSegment: Bool { length <= capacity }

    package var alphabet: TextEncoding.Alphabet { septets == nil ? .ucs2 : .gsm7 }

    /// The length in septets or units, by the alphabet of the text.
    package var length: Int { septets ?? units }

    package var capacity: Int { septets == nil ? Self.maximumUnits : Self.maximumSeptets }
}

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
