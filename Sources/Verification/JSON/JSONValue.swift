// SPDX-License-Identifier: Apache-2.0

/// A JSON value as the document has it: members in their order, numbers as their literal text.
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
}

/// A JSON object: its members in document order, each name once.
package struct JSONObject: Sendable {
    package let members: [JSONMember]

    package init(members: [JSONMember]) {
        self.members = members
    }

    /// The value of the member with exactly these UTF-8 bytes as its name.
    ///
    /// Bytes, because `String`'s own equality takes canonically equivalent texts for the same.
    package subscript(name: String) -> JSONValue? {
        for member in members where member.name.hasSameBytes(as: name) { return member.value }
        return nil
    }

    /// The member with this name when it is a string; nil for any other, and for none.
    package func text(_ name: String) -> String? {
        guard case .string(let text)? = self[name] else { return nil }
        return text
    }
}

/// One member of a JSON object.
package struct JSONMember: Sendable {
    package let name: String
    package let value: JSONValue

    package init(name: String, value: JSONValue) {
        self.name = name
        self.value = value
    }
}

/// A JSON number that fits an `Int64` or, with a fraction or an exponent, a finite `Double`, unless it was read
/// tolerantly.
package struct JSONNumber: Sendable {
    /// The number as the document spells it.
    package let literal: String

    init(literal: String) {
        self.literal = literal
    }

    /// The number as an integer; nil when it has a fraction or an exponent.
    package var int64: Int64? { Int64(literal) }

    /// The nearest double; nil only for a literal that no scanner made.
    package var double: Double? { Double(literal) }
}

/// Why bytes are no JSON document that is read here.
package enum JSONFault: Error, Sendable, Hashable, CaseIterable {
    /// The bytes break RFC 8259's grammar, or an escape makes half a surrogate pair.
    case notJSON

    /// The bytes, anywhere in the document, are no UTF-8.
    case invalidUTF8

    /// More containers are nested than the limits allow.
    case tooDeep

    /// An object has the same name twice, however it is escaped.
    case duplicateKey

    /// An integer beyond 64 bits, or a fraction or an exponent that no finite double holds.
    case numberOutOfRange
}

/// What a scanner accepts at most.
package struct JSONLimits: Sendable, Hashable {
    /// How many containers may be nested; the outermost counts as one.
    package let maximumDepth: Int

    /// Whether what is commonly wrong is borne: a byte order mark, bytes that are no UTF-8, control characters in
    /// strings, comments, commas at an end, numbers that no type holds, a name twice, and whatever follows the value.
    package let isTolerant: Bool

    package init(maximumDepth: Int = 16, isTolerant: Bool = false) {
        self.maximumDepth = maximumDepth
        self.isTolerant = isTolerant
    }
}
