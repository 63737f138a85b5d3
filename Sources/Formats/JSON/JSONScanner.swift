// SPDX-License-Identifier: Apache-2.0

/// A strict RFC 8259 parser of untrusted bytes, in one pass and without Foundation.
///
/// Strict where parsers differ, because two readers of one message must not see two requests: duplicate names in an
/// object, half a surrogate pair, a byte order mark, and numbers that would lose their value are faults. It never
/// traps: every byte is read after a bounds check, and the limits bound nesting, and thus recursion. The caller must
/// bound the size of the document.
///
/// Tolerant on request, for documents whose authors cannot fix them: see `JSONLimits`.
package struct JSONScanner {
    let bytes: [UInt8]
    var position = 0
    private var document: JSONDocument
    private var depth = 0
    let limits: JSONLimits

    private init(_ document: JSONDocument) {
        bytes = document.bytes
        limits = document.limits
        self.document = document
    }

    /// Parses the one value in the bytes; throws the first fault in document order.
    ///
    /// Invalid UTF-8 takes precedence over every other fault, wherever it is.
    package static func parse(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONFault) -> JSONValue {
        // Nearly all input is ASCII and needs no `String` to be validated as UTF-8.
        guard limits.isTolerant || bytes.allSatisfy({ $0 < 0x80 }) || String(validating: bytes, as: UTF8.self) != nil
        else { throw .invalidUTF8 }
        guard bytes.count <= Int32.max else { throw .notJSON }
        var scanner = JSONScanner(JSONDocument(bytes: bytes, limits: limits))
        scanner.document.nodes.reserveCapacity(min(bytes.count / 16, 32) + 1)
        if limits.isTolerant, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { scanner.position = 3 }
        try scanner.value()
        scanner.skipWhitespace()
        guard scanner.position == bytes.count || limits.isTolerant else { throw .notJSON }
        return scanner.document.value(at: 0)
    }

    /// The string of an encoded text that was parsed before.
    static func string(_ text: JSONDocument.Text, in document: JSONDocument) -> String {
        var scanner = JSONScanner(document)
        scanner.position = Int(text.start)
        return (try? scanner.escapedString(from: Int(text.start))) ?? ""
    }

    /// The byte at the position, 0 at the end: no token starts with or contains that byte.
    var next: UInt8 {
        position < bytes.count ? bytes[position] : 0
    }

    /// Reads a value, and adds it and its parts to the document.
    private mutating func value(named name: JSONDocument.Text = .none) throws(JSONFault) {
        skipWhitespace()
        let place = document.nodes.count
        func node(_ kind: JSONDocument.Node.Kind, _ text: JSONDocument.Text = .none) -> JSONDocument.Node {
            JSONDocument.Node(kind: kind, name: name, text: text, next: place + 1)
        }
        switch next {
        case UInt8(ascii: "{"):
            document.nodes.append(node(.object))
            try object(at: place)
        case UInt8(ascii: "["):
            document.nodes.append(node(.array))
            try array()
        case UInt8(ascii: "\""): document.nodes.append(node(.string, try string()))
        case UInt8(ascii: "t"):
            try literal("true")
            document.nodes.append(node(.bool(true)))
        case UInt8(ascii: "f"):
            try literal("false")
            document.nodes.append(node(.bool(false)))
        case UInt8(ascii: "n"):
            try literal("null")
            document.nodes.append(node(.null))
        default: document.nodes.append(node(.number, try number()))
        }
        document.nodes[place].next = document.nodes.count
    }

    private mutating func object(at place: Int) throws(JSONFault) {
        try enter()
        if take(UInt8(ascii: "}")) {
            depth -= 1
            return
        }
        var names = JSONNames()
        repeat {
            skipWhitespace()
            if limits.isTolerant, next == UInt8(ascii: "}") { break }
            guard next == UInt8(ascii: "\"") else { throw .notJSON }
            let name = try string()
            let isNew = isNew(name, in: place, &names)
            guard isNew || limits.isTolerant else { throw .duplicateKey }
            guard take(UInt8(ascii: ":")) else { throw .notJSON }
            let member = document.nodes.count
            try value(named: name)
            // If duplicate names are tolerated, the first one counts.
            if !isNew { document.nodes.removeSubrange(member...) }
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw .notJSON }
        depth -= 1
    }

    private mutating func array() throws(JSONFault) {
        try enter()
        if take(UInt8(ascii: "]")) {
            depth -= 1
            return
        }
        repeat {
            skipWhitespace()
            if limits.isTolerant, next == UInt8(ascii: "]") { break }
            try value()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw .notJSON }
        depth -= 1
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

    private mutating func number() throws(JSONFault) -> JSONDocument.Text {
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
        let text = text(from: start)
        // Eighteen digits always fit in 64 bits.
        if isInteger, position - start <= 18 { return text }
        let number = JSONNumber(literal: document.string(text))
        let isInRange = isInteger ? number.int64 != nil : number.double?.isFinite == true
        guard isInRange else { throw .numberOutOfRange }
        return text
    }

    /// A number of any size and spelling, such as `+1`, `007` or `NaN`: a bare word.
    private mutating func anyNumber() throws(JSONFault) -> JSONDocument.Text {
        let start = position
        while next.isASCIILetterOrDigit || [UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ".")].contains(next) {
            position += 1
        }
        guard position > start else { throw .notJSON }
        return text(from: start)
    }

    /// The bytes up to the position.
    func text(from start: Int, isEncoded: Bool = false) -> JSONDocument.Text {
        JSONDocument.Text(start: UInt32(start), end: UInt32(position), isEncoded: isEncoded)
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

// The names in an object, to find duplicates.
extension JSONScanner {
    /// The names of an object with many of them.
    private struct JSONNames {
        var count = 0
        var seen: Set<[UInt8]> = []
    }

    /// The first few names are compared one by one; beyond that, a set keeps an object with ten thousand names linear.
    private static let comparedOneByOne = 16

    /// False if a name occurs twice in the object at a place.
    private mutating func isNew(_ name: JSONDocument.Text, in place: Int, _ names: inout JSONNames) -> Bool {
        if names.count < Self.comparedOneByOne {
            guard document.isNew(name, after: place) else { return false }
        } else {
            if names.seen.isEmpty { names.seen = Set(document.names(after: place)) }
            guard names.seen.insert(Array(document.string(name).utf8)).inserted else { return false }
        }
        names.count += 1
        return true
    }
}
