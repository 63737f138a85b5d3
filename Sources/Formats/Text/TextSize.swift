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
