// SPDX-License-Identifier: Apache-2.0

/// A mapping whose keys are all known.
struct YAMLMapping {
    /// The mapping itself, for faults that concern it as a whole.
    let value: YAMLValue
    private let values: [String: YAMLValue]

    /// The known keys that stand there with a slip, by which they are already reported.
    let misspelt: Set<String>

    init(value: YAMLValue, values: [String: YAMLValue], misspelt: Set<String>) {
        self.value = value
        self.values = values
        self.misspelt = misspelt
    }

    subscript(key: String) -> YAMLValue? { values[key] }

    /// The value of a key, or nil with a fault that says what to write.
    func required(_ key: String, such example: String) -> YAMLValue? {
        if let value = values[key] { return value }
        if misspelt.contains(key) { return nil }
        let path = value.path.isEmpty ? key : "\(value.path).\(key)"
        value.faults.report(line: value.line, key: path, "is required; add it, such as `\(key): \(example)`")
        return nil
    }

    /// What a rule makes of a key's value, or the default when the key is absent.
    func read<Value>(_ key: String, _ rule: ValueRule<Value>, default fallback: Value) -> Value {
        guard let value = values[key] else { return fallback }
        return value.read(rule) ?? fallback
    }
}
