// SPDX-License-Identifier: Apache-2.0

/// A body of type `application/x-www-form-urlencoded`, fields in the order of their appending.
struct FormBody {
    static let contentType = "application/x-www-form-urlencoded"

    private(set) var text = ""

    /// Appends one field; everything but the standard's unreserved characters is escaped, byte by byte.
    mutating func append(_ name: String, _ value: String) {
        if !text.isEmpty { text += "&" }
        text += Self.encoded(name) + "=" + Self.encoded(value)
    }

    /// The form encoding of the WHATWG URL standard: a space becomes `+`, other bytes `%XX`.
    static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: " "):
                bytes.append(UInt8(ascii: "+"))
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "*"):
                bytes.append(byte)
            default:
                bytes.append(UInt8(ascii: "%"))
                bytes.append(hexDigits[Int(byte >> 4)])
                bytes.append(hexDigits[Int(byte & 15)])
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)
}
