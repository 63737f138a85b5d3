// SPDX-License-Identifier: Apache-2.0

import Yams

/// One value of a YAML file, with its key and line; its readers report faults and never throw.
package struct YAMLValue {
    let node: Node

    /// The dotted key, such as `kafka.topics.requests`.
    package let path: String

    /// The line of the key.
    package let line: Int
    package let faults: FaultCollector

    package func fault(_ message: String) {
        faults.report(line: line, key: path, message)
    }

    /// True for a key without a value.
    package var isNull: Bool {
        guard case .scalar(let scalar) = node, scalar.style == .plain || scalar.style == .any else { return false }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    package var isMapping: Bool {
        guard case .mapping = node else { return false }
        return true
    }

    package var isEmptyMapping: Bool {
        guard case .mapping(let mapping) = node else { return false }
        return mapping.isEmpty
    }

    package var isEmptyList: Bool {
        guard case .sequence(let sequence) = node else { return false }
        return sequence.isEmpty
    }

    /// The text of a scalar as written; nil for a list, a mapping or null.
    package var scalarText: String? {
        guard case .scalar(let scalar) = node, !isNull else { return nil }
        return scalar.string
    }

    /// The scalar, parsed by a rule; nil, with a fault, when it is invalid.
    package func read<Value>(_ rule: ValueRule<Value>) -> Value? {
        if let value = scalarText.flatMap(rule.parse) { return value }
        fault(isNull ? "\(rule.requirement), but is empty" : rule.requirement)
        return nil
    }

    /// The elements of a list; `elements` names them in faults.
    package func list(of elements: String) -> [YAMLValue]? {
        guard case .sequence(let sequence) = node else {
            fault("must be a list of \(elements), such as [a, b]")
            return nil
        }
        return sequence.enumerated().map { index, node in
            YAMLValue(node: node, path: "\(path)[\(index)]", line: node.mark?.line ?? line, faults: faults)
        }
    }

    /// The elements of a list, parsed by a rule; invalid ones are skipped, with a fault.
    package func list<Value>(of elements: String, _ rule: ValueRule<Value>) -> [Value]? {
        list(of: elements)?.compactMap { $0.read(rule) }
    }

    /// A mapping whose keys are all known; any other key is a fault that suggests the nearest.
    package func mapping(keys known: [String]) -> YAMLMapping? {
        guard let pairs = pairs() else { return nil }
        var values: [String: YAMLValue] = [:]
        var misspelt: Set<String> = []
        for (name, value) in pairs {
            if known.contains(name) {
                values[name] = value
            } else if let nearest = reportUnknown(name, value, known: known) {
                misspelt.insert(nearest)
            }
        }
        return YAMLMapping(value: self, values: values, misspelt: misspelt)
    }

    /// The entries of a mapping with names that the operator chooses; an invalid name is a fault.
    package func entries<Key: Hashable>(_ names: ValueRule<Key>, called noun: String) -> [(key: Key, value: YAMLValue)]?
    {
        pairs()?.compactMap { name, value in
            if let key = names.parse(name) { return (key, value) }
            faults.report(line: value.line, key: path, "the name of \(noun) \(names.requirement)")
            return nil
        }
    }

    /// The value at a key of a mapping, without any fault: for the key that determines which others are known.
    package func peek(_ key: String) -> YAMLValue? {
        guard case .mapping(let mapping) = node else { return nil }
        let match = mapping.entriesWithMerged.first { entry in
            guard case .scalar(let scalar) = entry.key else { return false }
            return scalar.string == key
        }
        return match.map {
            YAMLValue(node: $0.value, path: path(of: key), line: $0.key.mark?.line ?? line, faults: faults)
        }
    }

    /// True when a fault may quote a key: a stray piece of a secret rarely looks like a name.
    static func isPrintable(_ name: String) -> Bool {
        ValueRule.name(upTo: 64).parse(name) != nil
    }
}

extension YAMLValue {
    /// The entries of a mapping in order, and those of merge keys; a key that is no text or a duplicate is a fault.
    ///
    /// The parser itself rejects equal keys, but treats `NO` and `"NO"` as different.
    private func pairs() -> [(name: String, value: YAMLValue)]? {
        guard case .mapping(let mapping) = node else {
            fault("must be a mapping of keys to values")
            return nil
        }
        var seen: Set<String> = []
        var pairs: [(name: String, value: YAMLValue)] = []
        for place in mapping.unusableMerges {
            let message = "has a merge key (<<) of something else than mappings; write <<: *name or <<: [*name, *other]"
            faults.report(line: place.mark?.line ?? line, key: path, message)
        }
        if mapping.mergesTooMuch {
            let limit = Node.Mapping.maximumMerged
            fault("brings in more than \(limit) keys by merges (<<) of merges; write out what is needed")
        }
        for (key, node, isMerged) in mapping.entriesWithMerged {
            let keyLine = key.mark?.line ?? line
            guard case .scalar(let scalar) = key else {
                faults.report(line: keyLine, key: path, "has a key that is no text")
                continue
            }
            let name = scalar.string
            let value = YAMLValue(node: node, path: path(of: name), line: keyLine, faults: faults)
            if seen.insert(name).inserted {
                pairs.append((name, value))
            } else if !isMerged {
                value.fault("is given more than once in one mapping; keep one")
            }
        }
        return pairs
    }

    private func path(of name: String) -> String {
        guard Self.isPrintable(name) else { return path }
        return path.isEmpty ? name : "\(path).\(name)"
    }

    /// Reports an unknown key and returns the known one that it most likely means.
    ///
    /// A key without a value or with a colon in it may be a piece of an unquoted secret: it is not quoted.
    private func reportUnknown(_ name: String, _ value: YAMLValue, known: [String]) -> String? {
        guard !value.isNull, Self.isPrintable(name) else {
            let message = "has an unknown key without a value; quote a value that holds a comma or a colon"
            faults.report(line: value.line, key: path, message)
            return nil
        }
        let nearest = NearestKey.of(name, among: known)
        let advice = nearest.map { "did you mean \($0)?" } ?? "known here: \(known.joined(separator: ", "))"
        value.fault("is not a known key; \(advice)")
        return nearest
    }
}

/// A mapping whose keys are all known.
package struct YAMLMapping {
    /// The mapping itself, for faults that concern the whole.
    package let value: YAMLValue
    private let values: [String: YAMLValue]

    /// The known keys that are misspelt in the file and already reported.
    package let misspelt: Set<String>

    init(value: YAMLValue, values: [String: YAMLValue], misspelt: Set<String>) {
        self.value = value
        self.values = values
        self.misspelt = misspelt
    }

    package subscript(key: String) -> YAMLValue? { values[key] }

    /// The value of a required key; nil, with a fault that shows an example.
    package func required(_ key: String, such example: String) -> YAMLValue? {
        if let value = values[key] { return value }
        if misspelt.contains(key) { return nil }
        let path = value.path.isEmpty ? key : "\(value.path).\(key)"
        value.faults.report(line: value.line, key: path, "is required; add it, such as `\(key): \(example)`")
        return nil
    }

    /// The value of a key, parsed by a rule, or the default when it is absent or invalid.
    package func read<Value>(_ key: String, _ rule: ValueRule<Value>, default fallback: Value) -> Value {
        guard let value = values[key] else { return fallback }
        return value.read(rule) ?? fallback
    }
}
