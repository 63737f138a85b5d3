// SPDX-License-Identifier: Apache-2.0

/// A strict RFC 8259 parser of untrusted bytes, in one pass and without Foundation.
///
/// Strict where parsers differ, because two readers of one message must not see two requests: duplicate names in an
/// object, half a surrogate pair, a byte order mark, and numbers that would lose their value are faults. It never
/// traps: every byte is read after a bounds check, and the limits bound nesting, and thus recursion. The caller must
/// bound the size of the document.
///
/// Tolerant on request, for documents whose authors cannot be told of faults: see `JSONLimits`.
package struct JSONScanner {
    let bytes: [UInt8]
    var position = 0
    private var depth = 0
    let limits: JSONLimits

    private init(bytes: [UInt8], limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    /// Parses the one value in the bytes; throws the first fault in document order.
    ///
    /// Invalid UTF-8 takes precedence over every other fault, wherever it is.
    package static func parse(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONFault) -> JSONValue {
        // Nearly all input is ASCII and needs no `String` to be validated as UTF-8.
        guard limits.isTolerant || bytes.allSatisfy({ $0 < 0x80 }) || String(validating: bytes, as: UTF8.self) != nil
        else { throw .invalidUTF8 }
        var scanner = JSONScanner(bytes: bytes, limits: limits)
        if limits.isTolerant, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { scanner.position = 3 }
        let value = try scanner.value()
        scanner.skipWhitespace()
        guard scanner.position == bytes.count || limits.isTolerant else { throw .notJSON }
        return value
    }

    /// The byte at the position, 0 at the end: no token starts with or contains that byte.
    var next: UInt8 {
        position < bytes.count ? bytes[position] : 0
    }

    private mutating func value() throws(JSONFault) -> JSONValue {
        skipWhitespace()
        switch next {
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"):
            try literal("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try literal("null")
            return .null
        default: return .number(try number())
        }
    }

    private mutating func object() throws(JSONFault) -> JSONObject {
        try enter()
        var members: [JSONMember] = []
        if take(UInt8(ascii: "}")) {
            depth -= 1
            return JSONObject(members: members)
        }
        var names = JSONNames()
        members.reserveCapacity(8)
        repeat {
            skipWhitespace()
            if limits.isTolerant, next == UInt8(ascii: "}") { break }
            guard next == UInt8(ascii: "\"") else { throw .notJSON }
            let name = try string()
            let isNew = names.insert(name, after: members)
            guard isNew || limits.isTolerant else { throw .duplicateKey }
            guard take(UInt8(ascii: ":")) else { throw .notJSON }
            let member = JSONMember(name: name, value: try value())
            // If duplicate names are tolerated, the first one counts.
            if isNew { members.append(member) }
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw .notJSON }
        depth -= 1
        return JSONObject(members: members)
    }

    private mutating func array() throws(JSONFault) -> [JSONValue] {
        try enter()
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) {
            depth -= 1
            return elements
        }
        repeat {
            skipWhitespace()
            if limits.isTolerant, next == UInt8(ascii: "]") { break }
            elements.append(try value())
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw .notJSON }
        depth -= 1
        return elements
    }

    /// Skips an opening bracket and enters its level.
    private mutating func enter() throws(JSONFault) {
        depth += 1
        guard depth <= limits.maximumDepth else { throw .tooDeep }
        position += 1
    }

    /// Skips whitespace and then the byte, if present.
    private mutating func take(_ byte: UInt8) -> Bool {
        skipWhitespace()
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func literal(_ text: StaticString) throws(JSONFault) {
        let end = position + text.utf8CodeUnitCount
        guard end <= bytes.count else { throw .notJSON }
        let matches = text.withUTF8Buffer { $0.elementsEqual(bytes[position..<end]) }
        guard matches else { throw .notJSON }
        position = end
    }

    private mutating func number() throws(JSONFault) -> JSONNumber {
        let start = position
        if limits.isTolerant { return try anyNumber() }
        var isInteger = true
        if next == UInt8(ascii: "-") { position += 1 }
        if next == UInt8(ascii: "0") { position += 1 } else { try digits() }
        if next == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try digits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            isInteger = false
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        let number = JSONNumber(literal: String(decoding: bytes[start..<position], as: UTF8.self))
        if isInteger {
            // Eighteen digits always fit in 64 bits.
            guard position - start <= 18 || number.int64 != nil else { throw .numberOutOfRange }
        } else {
            guard let double = number.double, double.isFinite else { throw .numberOutOfRange }
        }
        return number
    }

    /// A number of any size and spelling, such as `+1`, `007` or `NaN`: a bare word.
    private mutating func anyNumber() throws(JSONFault) -> JSONNumber {
        let start = position
        while next.isASCIILetterOrDigit || [UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains(next) {
            position += 1
        }
        guard position > start else { throw .notJSON }
        return JSONNumber(literal: String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func digits() throws(JSONFault) {
        let start = position
        while UInt8(ascii: "0") <= next, next <= UInt8(ascii: "9") { position += 1 }
        guard position > start else { throw .notJSON }
    }

    private mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0a, 0x0d: position += 1
            case UInt8(ascii: "/") where limits.isTolerant: if !skipComment() { return }
            default: return
            }
        }
    }

    /// Skips `// …` up to the line's end, or `/* … */`; false if neither begins.
    private mutating func skipComment() -> Bool {
        let rest = bytes[(position + 1)...]
        switch rest.first {
        case UInt8(ascii: "/"):
            position = rest.firstIndex { $0 == 0x0a || $0 == 0x0d } ?? bytes.count
        case UInt8(ascii: "*"):
            position = rest.dropFirst().firstRange(of: Array("*/".utf8))?.upperBound ?? bytes.count
        default:
            return false
        }
        return true
    }
}

/// The names in an object so far, to find duplicates.
///
/// The first few names are compared one by one; beyond that, a set keeps an object with ten thousand names linear.
private struct JSONNames {
    private static let comparedOneByOne = 16
    private var seen: Set<[UInt8]> = []

    /// Adds a name to those of the members; false if it is a duplicate.
    mutating func insert(_ name: String, after members: [JSONMember]) -> Bool {
        if members.count < Self.comparedOneByOne {
            for member in members where member.name.hasSameBytes(as: name) { return false }
            return true
        }
        if seen.isEmpty {
            for member in members { seen.insert(Array(member.name.utf8)) }
        }
        return seen.insert(Array(name.utf8)).inserted
    }
}
