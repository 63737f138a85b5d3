// SPDX-License-Identifier: Apache-2.0

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
