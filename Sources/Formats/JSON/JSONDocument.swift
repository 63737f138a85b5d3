// SPDX-License-Identifier: Apache-2.0

/// A parsed document, read in place: names and texts stay ranges of its bytes until a caller reads them.
struct JSONDocument: Sendable {
    let bytes: [UInt8]

    /// The values in document order; the members or elements of one follow it.
    var nodes: [Node] = []
    let limits: JSONLimits

    struct Node: Sendable {
        enum Kind: Sendable {
            case null
            case bool(Bool)
            case number
            case string
            case array
            case object
        }

        let kind: Kind

        /// The name of a member; empty for any other value.
        let name: Text

        /// The text of a string, or the literal of a number.
        let text: Text

        /// The place of the next value that is not a part of this one.
        var next = 0
    }

    /// A range of the bytes.
    struct Text: Sendable {
        let start: UInt32
        let end: UInt32

        /// True if the bytes are not the text itself: it has an escape, or was read tolerantly.
        let isEncoded: Bool

        static let none = Text(start: 0, end: 0, isEncoded: false)
    }

    init(bytes: [UInt8], limits: JSONLimits) {
        self.bytes = bytes
        self.limits = limits
    }

    /// The value at a place.
    func value(at place: Int) -> JSONValue {
        let node = nodes[place]
        switch node.kind {
        case .null: return .null
        case .bool(let bool): return .bool(bool)
        case .number: return .number(JSONNumber(literal: string(node.text)))
        case .string: return .string(string(node.text))
        case .array: return .array(parts(of: place).map { value(at: $0) })
        case .object: return .object(JSONObject(self, at: place))
        }
    }

    func isTextOrNull(at place: Int) -> Bool {
        switch nodes[place].kind {
        case .string, .null: true
        default: false
        }
    }

    /// The places of an array's elements or an object's members.
    func parts(of place: Int) -> [Int] {
        var places: [Int] = []
        var part = place + 1
        while part < nodes[place].next {
            places.append(part)
            part = nodes[part].next
        }
        return places
    }

    /// The place of the member with exactly these bytes as its name, in the object at a place.
    func member(_ name: String, of place: Int) -> Int? {
        name.utf8Span.span.withUnsafeBytes { member($0, of: place) }
    }

    private func member(_ name: UnsafeRawBufferPointer, of place: Int) -> Int? {
        let end = nodes[place].next
        var part = place + 1
        while part < end {
            let text = nodes[part].name
            if text.isEncoded ? name.elementsEqual(string(text).utf8) : isEqual(text, name) { return part }
            part = nodes[part].next
        }
        return nil
    }

    func name(at place: Int) -> String { string(nodes[place].name) }

    /// True if no member of the object in progress has this name; its members begin after a place.
    func isNew(_ name: Text, after place: Int) -> Bool {
        var member = place + 1
        while member < nodes.count {
            if areEqual(name, nodes[member].name) { return false }
            member = nodes[member].next
        }
        return true
    }

    /// The names so far in the object in progress, whose members begin after a place.
    func names(after place: Int) -> [[UInt8]] {
        var names: [[UInt8]] = []
        var member = place + 1
        while member < nodes.count {
            names.append(Array(name(at: member).utf8))
            member = nodes[member].next
        }
        return names
    }

    private func isEqual(_ text: Text, _ other: UnsafeRawBufferPointer) -> Bool {
        let start = Int(text.start)
        guard Int(text.end) - start == other.count else { return false }
        for place in 0..<other.count where bytes[start + place] != other[place] { return false }
        return true
    }

    /// True if two texts are equal after decoding.
    private func areEqual(_ one: Text, _ other: Text) -> Bool {
        if one.isEncoded || other.isEncoded { return string(one).hasSameBytes(as: string(other)) }
        guard one.end - one.start == other.end - other.start else { return false }
        var place = Int(one.start)
        for otherPlace in Int(other.start)..<Int(other.end) {
            if bytes[place] != bytes[otherPlace] { return false }
            place += 1
        }
        return true
    }

    func string(_ text: Text) -> String {
        guard text.isEncoded else { return String(decoding: bytes[Int(text.start)..<Int(text.end)], as: UTF8.self) }
        return JSONScanner.string(text, in: self)
    }
}
