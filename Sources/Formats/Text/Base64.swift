// SPDX-License-Identifier: Apache-2.0

/// Base 64 (RFC 4648): decodes the format of `data_base64`, encodes in both alphabets.
package enum Base64 {
    /// Decodes padded base64 without line breaks; nil for any other text.
    package static func decode(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 4) else { return nil }
        let padding = digits.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3)
        var pending: UInt32 = 0
        var bits = 0
        for digit in digits.dropLast(padding) {
            guard let value = value(of: digit) else { return nil }
            pending = (pending << 6 | value) & 0xffff
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
            }
        }
        // Unused bits must be zero, so that no two texts encode the same bytes.
        guard pending & ((1 << UInt32(bits)) - 1) == 0 else { return nil }
        return bytes
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a") + 26)
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0") + 52)
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

extension Base64 {
    /// Encodes bytes as padded base64.
    package static func encode(_ bytes: [UInt8]) -> String {
        let digits = digits(of: bytes, last: ("+", "/"))
        return digits + String(repeating: "=", count: (4 - digits.utf8.count % 4) % 4)
    }

    /// Encodes bytes as base64url (RFC 4648, section 5), without padding.
    package static func encodeForURL(_ bytes: [UInt8]) -> String {
        digits(of: bytes, last: ("-", "_"))
    }

    private static func digits(of bytes: [UInt8], last: (Unicode.Scalar, Unicode.Scalar)) -> String {
        let alphabet = letters + [UInt8(ascii: last.0), UInt8(ascii: last.1)]
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for place in 0...group.count {
                text.append(alphabet[Int(bits >> UInt32(18 - 6 * place) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
}
