// SPDX-License-Identifier: Apache-2.0

/// How a text travels as SMS: its alphabet and its number of parts (3GPP TS 23.038, TS 23.040).
package struct TextEncoding: Sendable, Equatable {
    package enum Alphabet: String, Sendable {
        case gsm7 = "GSM-7"
        case ucs2 = "UCS-2"
    }

    package let alphabet: Alphabet

    /// Septets of GSM-7 or 16-bit units of UCS-2.
    package let units: Int

    package init(_ text: String) {
        var septets = 0
        for scalar in text.unicodeScalars {
            if Self.basic.contains(scalar) {
                septets += 1
            } else if Self.extended.contains(scalar) {
                septets += 2
            } else {
                alphabet = .ucs2
                units = text.utf16.count
                return
            }
        }
        alphabet = .gsm7
        units = septets
    }

    /// One part holds 160 septets or 70 units, each of several 153 or 67.
    package var segments: Int {
        let (single, part) = alphabet == .gsm7 ? (160, 153) : (70, 67)
        return units <= single ? 1 : (units + part - 1) / part
    }

    private static let basic = Set(
        """
        @£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&'()*+,-./0123456789:;<=>?\
        ¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà
        """.unicodeScalars
    )
    private static let extended = Set("\u{c}^{}\\[~]|€".unicodeScalars)
}
