// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import SettingsReading
import TestTools
import Testing
import Verification

@testable import CodeCourier

/// Checks that the schemas have exactly the keys that the readers know, and the documents the declared settings.
@Suite struct SettingsSchemaTests {
    @Test func `each mapping of a policy has the keys of its schema`() throws {
        let mappings = try Self.mappings(of: "policy")
        #expect(mappings.count > 20)
        for mapping in mappings {
            let faults = PolicyFile.parse(mapping.yaml, file: "policy.yaml").failure
            #expect(Self.known(in: faults) == mapping.keys, "\(mapping.yaml)")
        }
    }

    @Test func `each mapping of a configuration has the keys of its schema`() throws {
        let mappings = try Self.mappings(of: "courier")
        #expect(mappings.count > 12)
        for mapping in mappings {
            let source = ConfigurationSource(path: "courier.yaml", text: mapping.yaml, environment: [:])
            let faults = CourierConfiguration.read(source).failure
            #expect(Self.known(in: faults) == mapping.keys, "\(mapping.yaml)")
        }
    }

    @Test func `the settings of each document are the declared ones`() throws {
        for document in SettingsDocument.all {
            let text = try String(contentsOf: Self.root.appending(path: document.path), encoding: .utf8)
            let isCurrent = text.contains(document.start) && document.renewed(text) == text
            #expect(isCurrent, "\(document.path) lacks a change of Setting.declared; run: make settings")
        }
    }

    @Test func `each default is a value that its variable may have`() {
        for setting in Setting.declared {
            guard let fallback = setting.fallback.wholeMatch(of: /`([^`]*)`/)?.output.1 else { continue }
            let variable = ConfigurationSource.variableName(setting.key)
            let source = ConfigurationSource(path: nil, environment: [variable: String(fallback)])
            _ = Settings.read(source)
            #expect(source.faults.isEmpty, "\(variable)")
        }
    }

    private static let root = Repository.root

    /// A file in which one mapping has an unknown key, and the schema's keys for that mapping.
    private struct Mapping {
        let yaml: String
        let keys: Set<String>
    }

    private static let stray = "xqzxqzxqzxqz"

    /// The keys that the fault about the unknown key lists as known.
    private static func known(in faults: ConfigurationFaults?) -> Set<String> {
        let texts = (faults?.faults ?? []).map(\.description).filter { $0.contains(stray) }
        let advice = texts.first?.components(separatedBy: "known here: ").last ?? ""
        return Set(advice.components(separatedBy: ", "))
    }

    private static func mappings(of name: String) throws -> [Mapping] {
        let file = root.appending(path: "schemas/\(name).schema.json")
        guard case .object(let root) = try JSONScanner.parse(Array(Data(contentsOf: file))) else { return [] }
        var mappings: [Mapping] = []
        walk(root, root) { mappings.append(Mapping(yaml: $0, keys: $1)) }
        return mappings
    }

    /// Visits every mapping of a schema with its keys; `wrap` turns a mapping's text into a whole file.
    private static func walk(
        _ schema: JSONObject,
        _ root: JSONObject,
        wrap: (String) -> String = { $0 },
        visit: (String, Set<String>) -> Void
    ) {
        if case .string(let reference)? = schema["$ref"] {
            let name = reference.split(separator: "/").last.map(String.init) ?? ""
            guard let target = root.object("$defs")?.object(name) else { return }
            return walk(target, root, wrap: wrap, visit: visit)
        }
        for alternative in schema.objects("anyOf") { walk(alternative, root, wrap: wrap, visit: visit) }
        if let items = schema.object("items") { walk(items, root, wrap: { wrap("[\($0)]") }, visit: visit) }
        if let value = schema.object("additionalProperties") {
            let isRegion = schema.object("propertyNames")?["pattern"].map { "\($0)".contains("{2}") } ?? false
            walk(value, root, wrap: { wrap("{ \(isRegion ? "US" : "en"): \($0) }") }, visit: visit)
        }
        guard let properties = schema.object("properties") else { return }
        var start = ""
        if let kind = properties.object("kind"), case .string(let text)? = kind["const"] {
            start = "name: a, kind: \(text), "
        }
        visit(wrap("{ \(start)\(stray): 1 }"), Set(properties.members.map(\.name)))
        for member in properties.members {
            guard case .object(let inner) = member.value else { continue }
            walk(inner, root, wrap: { wrap("{ \(start)\(member.name): \($0) }") }, visit: visit)
        }
    }
}

extension JSONObject {
    fileprivate func objects(_ name: String) -> [JSONObject] {
        guard case .array(let values)? = self[name] else { return [] }
        return values.compactMap(\.object)
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
