// SPDX-License-Identifier: Apache-2.0

/// What a piece of text takes of a message in either alphabet; sizes add up as texts do.
///
/// So a text's fit is known before it is put together, and the longest text of a template without any code.
package struct TextSize: Sendable, Equatable {
    /// Nil when a character is not in GSM-7, which makes the whole message UCS-2.
    package let septets: Int?
    package let units: Int

    /// What one segment holds (3GPP TS 23.038): 140 bytes.
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

    /// The size of so many digits, or of other characters of the basic alphabet that are none of its extension.
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

    /// Septets or units, by the alphabet that the text travels in.
    package var length: Int { septets ?? units }

    /// What one segment of the alphabet holds.
    package var capacity: Int { septets == nil ? Self.maximumUnits : Self.maximumSeptets }
}
