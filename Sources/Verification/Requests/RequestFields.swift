// SPDX-License-Identifier: Apache-2.0

import Formats

/// The fields of one object of a request, read by their rules; a fault names the field's full path.
///
/// An absent field is nil. Languages serialize an absent value in several ways, and each counts as absent: `null`, an
/// empty text for an optional field, an empty list for an object, and year 1 for a time. A present field must have
/// exactly the type of its rule: a number is not accepted as a text.
struct RequestFields {
    let object: JSONObject

    /// The prefix of a field's path: empty, or for example `recipient.`.
    let path: String

    init(_ object: JSONObject, path: String = "") {
        self.object = object
        self.path = path
    }

    func fault(_ name: String, _ reason: RejectionReason = .invalidRequest) -> RequestFault {
        RequestFault(field: path + name, reason: reason)
    }

    /// A text without control characters, its length counted in Unicode scalars.
    func text(_ name: String, within lengths: ClosedRange<Int>) throws(RequestFault) -> String? {
        guard let text = try string(name) else { return nil }
        guard text.isPlain(within: lengths) else { throw fault(name) }
        return text
    }

    /// A text that a parser accepts.
    func parsed<Value>(
        _ name: String,
        or reason: RejectionReason = .invalidRequest,
        by parse: (String) -> Value?
    ) throws(RequestFault) -> Value? {
        guard let text = try string(name) else { return nil }
        guard let value = parse(text) else { throw fault(name, reason) }
        return value
    }

    /// An optional text that no code depends on; any other value is left out and its path added to `unread`.
    func hint<Value>(_ name: String, _ unread: inout [String], by parse: (String) -> Value?) -> Value? {
        guard let value = optional(name) else { return nil }
        if case .string(let text) = value, let parsed = parse(text) { return parsed }
        unread.append(path + name)
        return nil
    }

    /// Adds an optional text that nobody reads to `unread` if it is no text.
    func checkHint(_ name: String, _ unread: inout [String]) {
        if !object.isTextOrAbsent(name) { unread.append(path + name) }
    }

    /// An object of hints; any other value is left out and its path added to `unread`.
    func hints(_ name: String, _ unread: inout [String]) -> RequestFields? {
        do {
            return try fields(name)
        } catch {
            unread.append(error.field)
            return nil
        }
    }

    /// A time in RFC 3339, or in the format of other serializers.
    func time(_ name: String) throws(RequestFault) -> Timestamp? {
        if case .string(let text)? = object[name], text.isZeroTime { return nil }
        return try parsed(name) { Timestamp(serialized: $0) }
    }

    /// A word of a closed list.
    func choice<Word: RawRepresentable>(
        _ name: String,
        of words: Word.Type = Word.self
    ) throws(RequestFault) -> Word? where Word.RawValue == String {
        try parsed(name) { words.init(rawValue: $0) }
    }

    func boolean(_ name: String) throws(RequestFault) -> Bool? {
        guard let value = optional(name) else { return nil }
        guard case .bool(let boolean) = value else { throw fault(name) }
        return boolean
    }

    func number(_ name: String, within range: ClosedRange<Double>) throws(RequestFault) -> Double? {
        guard let value = optional(name) else { return nil }
        guard case .number(let number) = value, let double = number.double, range.contains(double) else {
            throw fault(name)
        }
        return double
    }

    func fields(_ name: String) throws(RequestFault) -> RequestFields? {
        guard let value = optional(name) else { return nil }
        if case .array(let elements) = value, elements.isEmpty { return nil }
        guard case .object(let object) = value else { throw fault(name) }
        return RequestFields(object, path: path + name + ".")
    }

    private func string(_ name: String) throws(RequestFault) -> String? {
        guard let value = optional(name) else { return nil }
        guard case .string(let text) = value else { throw fault(name) }
        return text
    }

    /// The value of a field; nil if it counts as absent.
    private func optional(_ name: String) -> JSONValue? {
        switch object[name] {
        case nil, .null: nil
        case .string(let text) where text.isEmpty: nil
        case let value: value
        }
    }
}

extension String {
    /// True if the text has an allowed number of Unicode scalars and no control character (C0, DEL, C1).
    func isPlain(within lengths: ClosedRange<Int>) -> Bool {
        var count = 0
        for scalar in unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value)
            guard !isControl else { return false }
            count += 1
        }
        return lengths.contains(count)
    }

    /// True for year 1, which several languages write for an unset time, with any zone or none.
    fileprivate var isZeroTime: Bool {
        guard hasPrefix("0001-01-01") else { return false }
        return ["T00:00:00", "t00:00:00", " 00:00:00"].contains(where: dropFirst(10).hasPrefix)
    }

    /// True if the text has an allowed number of bytes, and `accepts` is true for each.
    package func isASCII(within lengths: ClosedRange<Int>, where accepts: (UInt8) -> Bool) -> Bool {
        lengths.contains(utf8.count) && utf8.allSatisfy(accepts)
    }
}
