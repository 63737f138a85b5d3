// SPDX-License-Identifier: Apache-2.0

import Formats
package import Foundation
import TestTools
import Verification

/// The published schema of delivery events, with a checker for the part of JSON Schema 2020-12 that it uses.
package struct DeliverySchema {
    private let root: JSONObject
    private var patterns: [String: NSRegularExpression] = [:]

    /// The error for a keyword that the checker does not support, so that nothing stays unchecked.
    package struct UnknownKeyword: Error {
        let name: String
    }

    /// The repository's folder of schemas.
    package static let folder = Repository.file("schemas/kafka")

    package init() throws {
        let bytes = try Data(contentsOf: Self.folder.appending(path: "delivery.schema.json"))
        guard case .object(let root) = try JSONScanner.parse(Array(bytes)) else { throw UnknownKeyword(name: "root") }
        self.root = root
    }

    /// The violations of an event's value, as `path keyword`.
    package mutating func violations(of value: [UInt8]) throws -> [String] {
        try violations(of: JSONScanner.parse(value), root, at: "event")
    }

    private mutating func violations(
        of value: JSONValue,
        _ schema: JSONObject,
        at path: String
    ) throws -> [String] {
        var violations: [String] = []
        for keyword in schema.members where try !accepts(value, keyword, in: schema, at: path, &violations) {
            violations.append("\(path) \(keyword.name)")
        }
        return violations
    }

    private mutating func accepts(
        _ value: JSONValue,
        _ keyword: JSONMember,
        in schema: JSONObject,
        at path: String,
        _ inner: inout [String]
    ) throws -> Bool {
        switch (keyword.name, keyword.value) {
        case ("$schema", _), ("$id", _), ("title", _), ("description", _), ("format", _), ("then", _): return true
        case ("type", .string(let type)): return value.isOf(type)
        case ("const", let constant): return value.isEqual(to: constant)
        case ("enum", .array(let values)): return values.contains { value.isEqual(to: $0) }
        case ("minimum", .number(let bound)): return value.compare { $0 >= bound.double ?? 0 }
        case ("maximum", .number(let bound)): return value.compare { $0 <= bound.double ?? 0 }
        case ("minLength", .number(let bound)):
            return Double(value.string?.unicodeScalars.count ?? .max) >= bound.double ?? 0
        case ("maxLength", .number(let bound)):
            return Double(value.string?.unicodeScalars.count ?? 0) <= bound.double ?? 0
        case ("pattern", .string(let pattern)): return try value.string.map { try matches($0, pattern) } ?? true
        case ("required", .array(let names)):
            guard case .object(let object) = value else { return true }
            return names.allSatisfy { name in name.string.map { object[$0] != nil } ?? false }
        case ("properties", .object(let properties)):
            guard case .object(let object) = value else { return true }
            // The schema allows unknown fields for later versions, but the current code must write only described ones.
            if schema["type"] != nil, object.members.contains(where: { properties[$0.name] == nil }) {
                inner.append("\(path) unknown field")
            }
            for property in properties.members {
                guard let value = object[property.name], case .object(let schema) = property.value else { continue }
                inner += try violations(of: value, schema, at: "\(path).\(property.name)")
            }
            return true
        case ("allOf", .array(let schemas)):
            for case .object(let schema) in schemas { inner += try violations(of: value, schema, at: path) }
            return true
        case ("if", .object(let condition)):
            guard try violations(of: value, condition, at: path).isEmpty, case .object(let then)? = schema["then"]
            else { return true }
            inner += try violations(of: value, then, at: path)
            return true
        case (let name, _): throw UnknownKeyword(name: name)
        }
    }

    private mutating func matches(_ text: String, _ pattern: String) throws -> Bool {
        let expression = try patterns[pattern] ?? NSRegularExpression(pattern: pattern)
        patterns[pattern] = expression
        return expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
    }
}

extension JSONValue {
    fileprivate func isOf(_ type: String) -> Bool {
        switch self {
        case .null: type == "null"
        case .bool: type == "boolean"
        case .number(let number): type == "number" || type == "integer" && number.int64 != nil
        case .string: type == "string"
        case .array: type == "array"
        case .object: type == "object"
        }
    }

    /// Compares scalar values; the schema's lists contain no others.
    fileprivate func isEqual(to other: JSONValue) -> Bool {
        switch (self, other) {
        case (.string(let left), .string(let right)): left == right
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left.double == right.double
        case (.null, .null): true
        default: false
        }
    }

    fileprivate func compare(_ condition: (Double) -> Bool) -> Bool {
        guard case .number(let number) = self else { return true }
        return number.double.map(condition) ?? false
    }
}
