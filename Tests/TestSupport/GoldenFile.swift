// SPDX-License-Identifier: Apache-2.0

package import Formats
import Foundation
import TestTools
package import Verification

/// One file of `schemas/golden/v1`: inputs and outputs since v1, which never change.
///
/// With `COURIER_WRITE_GOLDEN=folder` the tests also write the current code's output there, to add a case.
package struct GoldenFile {
    private static let folder = Repository.file("schemas/golden/v1")

    private let name: String
    package let cases: [JSONObject]

    /// Reads a file without its `superseded` cases, which the current code still reads but no longer writes.
    package init(_ name: String, but superseded: Set<String> = []) throws {
        self.name = name
        let bytes = try Data(contentsOf: Self.folder.appending(path: name))
        guard case .object(let root) = try JSONScanner.parse(Array(bytes)), case .array(let values)? = root["cases"]
        else { throw CocoaError(.fileReadCorruptFile) }
        let all = values.compactMap { if case .object(let object) = $0 { object } else { nil } }
        cases = all.filter { !superseded.contains($0.string("name") ?? "") }
        guard all.count == values.count, cases.count + superseded.count == all.count else {
            throw CocoaError(.fileReadCorruptFile)
        }
    }

    /// The cases as texts, to compare byte for byte with the current code's output.
    package func texts(beside made: [String]) throws -> [String] {
        if let folder = ProcessInfo.processInfo.environment["COURIER_WRITE_GOLDEN"] {
            let text = #"{"cases":[\#(made.joined(separator: ","))]}"#
            try Data(text.utf8).write(to: URL(filePath: folder).appending(path: name))
        }
        return cases.map(\.compact)
    }
}

extension JSONValue {
    /// The value without white space, with members in their order and numbers in their original spelling.
    package var compact: String {
        switch self {
        case .null: "null"
        case .bool(let value): value.description
        case .number(let number): number.literal
        case .string(let text): Self.quoted(text)
        case .array(let elements): "[\(elements.map(\.compact).joined(separator: ","))]"
        case .object(let object): object.compact
        }
    }

    package static func quoted(_ text: String) -> String {
        var writer = JSONWriter()
        writer.element(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension JSONObject {
    package var compact: String {
        "{\(members.map { "\(JSONValue.quoted($0.name)):\($0.value.compact)" }.joined(separator: ","))}"
    }

    /// The object's compact text with one member replaced.
    package func with(_ name: String, _ json: String) -> String {
        let kept = JSONObject(members: members.filter { $0.name != name }).compact.dropLast()
        return "\(kept),\(JSONValue.quoted(name)):\(json)}"
    }

    package func string(_ name: String) -> String? {
        if case .string(let text)? = self[name] { text } else { nil }
    }

    /// The text members of an inner object, in order.
    package func fields(_ name: String) -> [RecordField] {
        guard case .object(let inner)? = self[name] else { return [] }
        return inner.members.compactMap { member in
            if case .string(let text) = member.value { RecordField(member.name, text) } else { nil }
        }
    }

    /// The record of a case: its `headers`, and as value either `text` verbatim or `value` without white space.
    package func record(topic: String) -> InboundRecord {
        let value = string("text") ?? self["value"]?.compact
        return InboundRecord(
            topic: topic,
            partition: 3,
            offset: 42,
            timestamp: .test,
            key: string("key").map { Array($0.utf8) },
            value: value.map { Array($0.utf8) },
            headers: fields("headers")
        )
    }
}

/// A JSON object of the members that are not nil, in order.
package func compactObject(_ members: KeyValuePairs<StaticString, String?>) -> String {
    var writer = JSONWriter()
    writer.object { object in
        for (name, text) in members { object.member(name, ifPresent: text) }
    }
    return String(decoding: writer.bytes, as: UTF8.self)
}
