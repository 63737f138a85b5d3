// SPDX-License-Identifier: Apache-2.0

extension JSONScanner {
    /// Reads the string whose opening quote is at the position.
    ///
    /// A text with an escape is decoded here once to check it, and again when it is read.
    mutating func string() throws(JSONFault) -> JSONDocument.Text {
        position += 1
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                let text = text(from: start, isEncoded: limits.isTolerant && isBeyondASCII(from: start))
                position += 1
                return text
            case UInt8(ascii: "\\"):
                _ = try escapedString(from: start)
                position -= 1
                let text = text(from: start, isEncoded: true)
                position += 1
                return text
            case 0..<0x20 where !limits.isTolerant: throw .notJSON
            default: position += 1
            }
        }
        throw .notJSON
    }

    private func isBeyondASCII(from start: Int) -> Bool { bytes[start..<position].contains { $0 >= 0x80 } }

    /// Continues at the first escape of a string that starts at `start`.
    mutating func escapedString(from start: Int) throws(JSONFault) -> String {
        var text = Array(bytes[start..<position])
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                position += 1
                try escape(into: &text)
            case 0..<0x20 where !limits.isTolerant: throw .notJSON
            default:
                text.append(byte)
                position += 1
            }
        }
        throw .notJSON
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONFault) {
        let byte = next
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            guard let encoded = UTF8.encode(try escapedScalar()) else { throw .notJSON }
            text.append(contentsOf: encoded)
        case _ where limits.isTolerant && position <= bytes.count: text.append(byte)
        default: throw .notJSON
        }
    }

    /// Reads the digits after `\u`, and those of the second half of a surrogate pair.
    private mutating func escapedScalar() throws(JSONFault) -> Unicode.Scalar {
        let first = try hexUnit()
        guard first & 0xfc00 == 0xd800 else {
            guard let scalar = Unicode.Scalar(first) ?? half else { throw .notJSON }
            return scalar
        }
        if let half, !bytes[position...].starts(with: "\\u".utf8) { return half }
        guard next == UInt8(ascii: "\\") else { throw .notJSON }
        position += 1
        guard next == UInt8(ascii: "u") else { throw .notJSON }
        position += 1
        let second = try hexUnit()
        guard second & 0xfc00 == 0xdc00 else {
            guard let half else { throw .notJSON }
            return half
        }
        let value = 0x10000 + ((first & 0x3ff) << 10) + (second & 0x3ff)
        guard let scalar = Unicode.Scalar(value) else { throw .notJSON }
        return scalar
    }

    /// The replacement for half a surrogate pair; nil if it is a fault.
    private var half: Unicode.Scalar? { limits.isTolerant ? "\u{FFFD}" : nil }

    private mutating func hexUnit() throws(JSONFault) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Hexadecimal.value(of: next) else { throw .notJSON }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}
