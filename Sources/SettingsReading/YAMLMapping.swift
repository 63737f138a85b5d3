// SPDX-License-Identifier: Apache-2.0

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
