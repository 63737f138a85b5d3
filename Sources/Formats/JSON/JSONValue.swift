// SPDX-License-Identifier: Apache-2.0

/// A JSON value as in the document: members in their order, numbers as their literal text.
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    package var isNull: Bool {
        if case .null = self { true } else { false }
    }

    package var object: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    package var number: JSONNumber? {
        if case .number(let number) = self { number } else { nil }
    }
}

/// A JSON object: its members in document order, each name once.
///
/// An object of a parsed document is only a place in it, so only the members that are read cost memory.
package struct JSONObject: Sendable {
    private enum Content: Sendable {
        case members([JSONMember])
        case place(JSONDocument, Int)
    }

    private let content: Content

    package init(members: [JSONMember]) {
        content = .members(members)
    }

    init(_ document: JSONDocument, at place: Int) {
        content = .place(document, place)
    }

    package var members: [JSONMember] {
        switch content {
        case .members(let members): members
        case .place(let document, let place):
            document.parts(of: place).map { JSONMember(name: document.name(at: $0), value: document.value(at: $0)) }
        }
    }

    /// The value of the member with exactly these UTF-8 bytes as its name.
    ///
    /// `String`'s own equality would also match canonically equivalent texts.
    package subscript(name: String) -> JSONValue? {
        switch content {
        case .members(let members): members.first { $0.name.hasSameBytes(as: name) }?.value
        case .place(let document, let place): document.member(name, of: place).map { document.value(at: $0) }
        }
    }

    /// False if the member with this name is there, and is neither a string nor null.
    package func isTextOrAbsent(_ name: String) -> Bool {
        if case .place(let document, let place) = content {
            return document.member(name, of: place).map(document.isTextOrNull) ?? true
        }
        switch self[name] {
        case nil, .null, .string: return true
        default: return false
        }
    }

    /// The string of the member with this name; nil if it is absent or no string.
    package func text(_ name: String) -> String? { self[name]?.string }

    /// The object of the member with this name; nil if it is absent or no object.
    package func object(_ name: String) -> JSONObject? { self[name]?.object }
}

package struct JSONMember: Sendable {
    package let name: String
    package let value: JSONValue

    package init(name: String, value: JSONValue) {
        self.name = name
        self.value = value
    }
}

/// A JSON number that fits an `Int64` or, with a fraction or an exponent, a finite `Double`, unless parsed tolerantly.
package struct JSONNumber: Sendable {
    /// The number as spelt in the document.
    package let literal: String

    init(literal: String) {
        self.literal = literal
    }

    /// The number as an integer; nil if it has a fraction or an exponent.
    package var int64: Int64? { Int64(literal) }

    /// The nearest double; nil only for a literal that no strict scanner made.
    package var double: Double? { Double(literal) }
}

/// The reason why bytes are not accepted as a JSON document.
package enum JSONFault: Error, Sendable, Hashable, CaseIterable {
    /// The bytes break RFC 8259's grammar, or an escape makes half a surrogate pair.
    case notJSON

    /// The bytes, anywhere in the document, are not valid UTF-8.
    case invalidUTF8

    case tooDeep

    /// An object has the same name twice, in whatever spelling of its escapes.
    case duplicateKey

    /// An integer exceeds 64 bits, or no finite double holds a fraction or an exponent.
    case numberOutOfRange
}

package struct JSONLimits: Sendable, Hashable {
    /// The maximum nesting of containers; the outermost counts as one.
    package let maximumDepth: Int

    /// True if common errors are tolerated.
    ///
    /// A byte order mark, invalid UTF-8, control characters in strings, comments, trailing commas, numbers that no type
    /// holds, duplicate names, and anything after the value.
    package let isTolerant: Bool

    package init(maximumDepth: Int = 16, isTolerant: Bool = false) {
        self.maximumDepth = maximumDepth
        self.isTolerant = isTolerant
    }
}
