// SPDX-License-Identifier: Apache-2.0

/// Hexadecimal digits: their values and their bytes.
package enum Hexadecimal {
    /// The digit of a value below 16, in lower case.
    static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") &+ value &- 10
    }

    /// The digits for output, in lower case.
    package static let digits = Array("0123456789abcdef".utf8)

    /// The value of a digit in either case; nil for any other byte.
    package static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Decodes pairs of digits in either case; nil for any other text.
    package static func bytes(_ text: some Collection<UInt8>) -> [UInt8]? {
        let digits = text.compactMap { value(of: $0) }
        guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

/// Bytes as lower-case hexadecimal digits.
package func hexadecimal(_ bytes: [UInt8]) -> String {
    let digits = Hexadecimal.digits
    return String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
        for (index, byte) in bytes.enumerated() {
            text[2 * index] = digits[Int(byte >> 4)]
            text[2 * index + 1] = digits[Int(byte & 15)]
        }
        return 2 * bytes.count
    }
}

/// A 64-bit key as 16 lower-case hexadecimal digits.
package func hexadecimal(_ key: Int64) -> String {
    hexadecimal(withUnsafeBytes(of: key.bigEndian) { Array($0) })
}

extension UInt8 {
    package var isASCIIDigit: Bool { (0x30...0x39).contains(self) }

    package var isASCIILetter: Bool { (0x41...0x5a).contains(self & 0xdf) }

    package var isASCIILetterOrDigit: Bool { isASCIIDigit || isASCIILetter }
}
