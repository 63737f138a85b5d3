// SPDX-License-Identifier: Apache-2.0

/// Appends one JSON document to bytes, names in the order of the calls.
///
/// The output is one line and safe in a log or a script: quotes, backslashes, control characters, DEL and the line
/// separators U+2028 and U+2029 are escaped. The writer does not check that a name is written once, nor that members
/// are written to objects and elements to arrays.
package struct JSONWriter: Sendable {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// An empty document with `capacity` bytes reserved.
    package init(reserving capacity: Int = 512) {
        bytes.reserveCapacity(capacity)
    }

    /// Writes an object: the document's root, or an element of an array.
    package mutating func object(_ body: (inout JSONWriter) -> Void) {
        separate()
        enclose("{", body, "}")
    }

    package mutating func object(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
        self.name(name)
        enclose("{", body, "}")
    }

    /// Writes a member that is an object, and whose name is no literal.
    package mutating func object(named name: String, _ body: (inout JSONWriter) -> Void) {
        self.name(name)
        enclose("{", body, "}")
    }

    /// Writes an array: the document's root, or an element of an array.
    package mutating func array(_ body: (inout JSONWriter) -> Void) {
        separate()
        enclose("[", body, "]")
    }

    package mutating func array(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
        self.name(name)
        enclose("[", body, "]")
    }

    /// Writes a member that is a string, a number or a boolean.
    package mutating func member(_ name: StaticString, _ value: some JSONScalar) {
        self.name(name)
        value.write(to: &self)
        needsComma = true
    }

    /// As above for a text: most members are texts, and this compiles to less code than the generic function.
    package mutating func member(_ name: StaticString, ifPresent value: String?) {
        if let value { member(name, value) }
    }

    /// Writes a member whose name is no literal.
    package mutating func member(named name: String, _ value: some JSONScalar) {
        self.name(name)
        value.write(to: &self)
        needsComma = true
    }

    /// Writes a member, or nothing for nil.
    package mutating func member(_ name: StaticString, ifPresent value: (some JSONScalar)?) {
        if let value { member(name, value) }
    }

    package mutating func null(_ name: StaticString) {
        self.name(name)
        raw("null")
        needsComma = true
    }

    package mutating func element(_ value: some JSONScalar) {
        separate()
        value.write(to: &self)
        needsComma = true
    }

    /// Writes one of this program's own names, which are ASCII without characters to escape.
    private mutating func name(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { text in
            assert(!Self.mayNeedEscape(text), "a name is written as it is")
            bytes.append(contentsOf: text)
        }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func name(_ name: String) {
        separate()
        quoted(name)
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func enclose(
        _ opening: Unicode.Scalar,
        _ body: (inout JSONWriter) -> Void,
        _ closing: Unicode.Scalar
    ) {
        bytes.append(UInt8(ascii: opening))
        needsComma = false
        body(&self)
        bytes.append(UInt8(ascii: closing))
        needsComma = true
    }

    /// Appends text unchanged.
    fileprivate mutating func raw(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    /// Appends a string literal; runs without escapes are copied at once.
    fileprivate mutating func quoted(_ text: String) {
        text.utf8Span.span.withUnsafeBufferPointer { quoted($0) }
    }

    private mutating func quoted(_ source: UnsafeBufferPointer<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        if Self.mayNeedEscape(source) {
            var start = 0
            var index = 0
            while index < source.count {
                let length = Self.lengthToEscape(source, at: index)
                if length == 0 {
                    index += 1
                    continue
                }
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: source[start..<index]))
                escape(source[index], last: source[index + length - 1])
                index += length
                start = index
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: source[start..<source.count]))
        } else {
            bytes.append(contentsOf: source)
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends a string literal of characters that need no escape.
    fileprivate mutating func quoted(_ write: (inout [UInt8]) -> Void) {
        bytes.append(UInt8(ascii: "\""))
        write(&bytes)
        bytes.append(UInt8(ascii: "\""))
    }

    fileprivate mutating func decimal(_ number: Int64) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        var unit: UInt64 = 1
        while number.magnitude / unit >= 10 { unit *= 10 }
        while unit > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(number.magnitude / unit % 10))
            unit /= 10
        }
    }

    /// False for nearly every text; it has no branch for each byte, so that the compiler vectorizes the loop.
    private static func mayNeedEscape(_ source: UnsafeBufferPointer<UInt8>) -> Bool {
        var found: UInt8 = 0
        for byte in source {
            found |= byte < 0x20 ? 1 : 0
            found |= byte == UInt8(ascii: "\"") ? 1 : 0
            found |= byte == UInt8(ascii: "\\") ? 1 : 0
            found |= byte >= 0x7f ? 1 : 0
        }
        return found != 0
    }

    /// The length in bytes of the character at the index if it must be escaped: 0, 1, or 3 for a line separator.
    private static func lengthToEscape(_ source: UnsafeBufferPointer<UInt8>, at index: Int) -> Int {
        switch source[index] {
        case 0..<0x20, 0x7f, UInt8(ascii: "\""), UInt8(ascii: "\\"): 1
        case 0xe2:
            index + 2 < source.count && source[index + 1] == 0x80 && source[index + 2] & 0xfe == 0xa8 ? 3 : 0
        default: 0
        }
    }

    private mutating func escape(_ byte: UInt8, last: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): raw("\\\"")
        case UInt8(ascii: "\\"): raw("\\\\")
        case 0x0a: raw("\\n")
        case 0x0d: raw("\\r")
        case 0x09: raw("\\t")
        case 0xe2: raw(last == 0xa8 ? "\\u2028" : "\\u2029")
        default:
            raw(byte < 0x10 ? "\\u000" : "\\u00")
            raw(String(byte, radix: 16))
        }
    }
}

package protocol JSONScalar {
    func write(to writer: inout JSONWriter)
}

extension String: JSONScalar {
    package func write(to writer: inout JSONWriter) {
        writer.quoted(self)
    }
}

extension Bool: JSONScalar {
    package func write(to writer: inout JSONWriter) {
        writer.raw(self ? "true" : "false")
    }
}

extension Int: JSONScalar {
    package func write(to writer: inout JSONWriter) {
        writer.decimal(Int64(self))
    }
}

extension Int32: JSONScalar {
    package func write(to writer: inout JSONWriter) {
        writer.decimal(Int64(self))
    }
}

extension Int64: JSONScalar {
    package func write(to writer: inout JSONWriter) {
        writer.decimal(self)
    }
}

extension Double: JSONScalar {
    /// Appends the shortest decimal that parses to this number; `null` for infinity and NaN.
    package func write(to writer: inout JSONWriter) {
        writer.raw(isFinite ? description : "null")
    }
}

/// A time as `rfc3339` spells it.
extension Timestamp: JSONScalar {
    package func write(to writer: inout JSONWriter) {
        writer.quoted(appendRFC3339)
    }
}

/// An id as its `description` spells it.
extension UUIDValue: JSONScalar {
    package func write(to writer: inout JSONWriter) {
        writer.quoted(append)
    }
}

/// Bytes as lower-case hexadecimal digits.
package struct HexadecimalBytes: JSONScalar {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package func write(to writer: inout JSONWriter) {
        writer.quoted { text in
            for byte in bytes {
                text.append(Hexadecimal.digit(byte >> 4))
                text.append(Hexadecimal.digit(byte & 15))
            }
        }
    }
}
