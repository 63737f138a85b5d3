// SPDX-License-Identifier: Apache-2.0

/// The number of SMS segments of a text, and its alphabet.
///
/// By GSM 03.38 and 23.040, a single segment holds 160 septets or 70 UTF-16 units. Each of several holds 153 or 67, and
/// neither an escaped character nor a surrogate pair is split between two.
package struct MessageSegments: Sendable, Hashable {
    /// The alphabet of a message on the air.
    package enum Encoding: String, Sendable, Hashable, Codable {
        case gsm7 = "GSM-7"
        case ucs2 = "UCS-2"
    }

    package let encoding: Encoding
    package let count: Int
    /// The number of septets or UTF-16 units.
    package let units: Int

    package init(of text: String) {
        let septets = text.unicodeScalars.lazy.map { Self.septets(of: $0) }
        if septets.contains(0) {
            let units = text.unicodeScalars.lazy.map { $0.value > 0xFFFF ? 2 : 1 }
            self.init(encoding: .ucs2, costs: units, alone: 70, joined: 67)
        } else {
            self.init(encoding: .gsm7, costs: septets, alone: 160, joined: 153)
        }
    }

    private init(encoding: Encoding, costs: some Sequence<Int>, alone: Int, joined: Int) {
        self.encoding = encoding
        var units = 0
        var parts = 1
        var used = 0
        for cost in costs {
            units += cost
            if used + cost > joined {
                parts += 1
                used = 0
            }
            used += cost
        }
        self.units = units
        count = units <= alone ? 1 : parts
    }

    /// The text as GSM-7 carries it, with `?` for each character that it lacks.
    static func gsm7(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { septets(of: $0) > 0 ? $0 : "?" }))
    }

    /// The septets of a character: 1, 2 with an escape, 0 for one that GSM-7 lacks.
    private static func septets(of scalar: Unicode.Scalar) -> Int {
        if basic.contains(scalar) { return 1 }
        return extended.contains(scalar) ? 2 : 0
    }

    private static let basic = Set(
        ("@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿"
            + "abcdefghijklmnopqrstuvwxyzäöñüà").unicodeScalars
    )
    private static let extended = Set("^{}\\[~]|€\u{0C}".unicodeScalars)
}
