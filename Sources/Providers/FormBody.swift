// SPDX-License-Identifier: Apache-2.0

import Formats
import FoundationEssentials
import Verification

/// A body of type `application/x-www-form-urlencoded`, its fields in the order of the appends.
struct FormBody {
    static let contentType = "application/x-www-form-urlencoded"

    private(set) var bytes: [UInt8] = []

    init() {
        bytes.reserveCapacity(512)
    }

    init(_ fields: KeyValuePairs<String, String>) {
        self.init()
        for (name, value) in fields { append(name, value) }
    }

    /// The body as text; always ASCII.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Appends one field; escapes everything but the standard's unreserved characters, byte by byte.
    mutating func append(_ name: String, _ value: String) {
        if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
        append(encoding: name)
        bytes.append(UInt8(ascii: "="))
        append(encoding: value)
    }

    /// The form encoding of the WHATWG URL standard: a space becomes `+`, other bytes `%XX`.
    static func encoded(_ text: String) -> String {
        var form = FormBody()
        form.append(encoding: text)
        return form.text
    }

    private mutating func append(encoding text: String) {
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
                bytes.append(upperHexDigits[Int(byte >> 4)])
                bytes.append(upperHexDigits[Int(byte & 15)])
            }
        }
    }
}

/// The hex digits for escaped bytes, in forms and in mail.
let upperHexDigits = Array("0123456789ABCDEF".utf8)

/// A signed token in its compact form (JWT, RFC 7519; JWS, RFC 7515).
enum JSONWebToken {
    static func signed(header: JSONWriter, claims: JSONWriter, by sign: (Data) throws -> Data) rethrows -> String {
        let content = "\(Base64.encodeForURL(header.bytes)).\(Base64.encodeForURL(claims.bytes))"
        return "\(content).\(Base64.encodeForURL(Array(try sign(Data(content.utf8)))))"
    }
}
