// SPDX-License-Identifier: Apache-2.0

import SettingsReading

/// A key of the configuration file, declared once, in `Setting.declared`.
///
/// The declaration gives its reader, the keys that are known, the environment variable, the JSON schema and the row in
/// `docs/configuration.md`. A provider's keys are those of its `ProviderModule`.
struct Setting {
    /// A mapping of settings; a list or mapping with a reader of its own, from the file only; a single value; or a
    /// secret, which may also be in a file: `codeFile` names that of `code`.
    enum Form { case section, structure, value, secret }

    let form: Form
    let key: SettingKey

    /// The default in Markdown.
    let fallback: String

    /// The members of the value's JSON schema.
    let schema: String
    private var bounds: String?

    /// The meaning in Markdown, with the bounds of the value.
    private(set) var description = ""

    /// Reads the value into the settings; a missing or invalid value leaves them unchanged, and an invalid one is a
    /// fault.
    private(set) var read: (ConfigurationSource, inout Settings) -> Void = { _, _ in }

    /// Declares a setting without a reader, or with a reader of its own.
    init(_ form: Form, _ key: String, fallback: String = "none", schema: String = ValueRule<String>.textSchema) {
        self.form = form
        self.key = key.split(separator: ".").map(String.init)
        self.fallback = fallback
        self.schema = schema
    }

    /// Declares a value whose default is that of its property.
    init<Value>(_ key: String, _ path: WritableKeyPath<Settings, Value>, _ rule: ValueRule<Value>) {
        let fallback = rule.format(Settings()[keyPath: path])
        let json = Value.self is any BinaryInteger.Type || Value.self == Bool.self ? fallback : "\"\(fallback)\""
        self.init(.value, key, fallback: "`\(fallback)`", schema: "\(rule.schema),\"default\":\(json)")
        bounds = rule.bounds
        read = { [key = self.key] source, settings in
            if let value = source.read(key, rule) { settings[keyPath: path] = value }
        }
    }

    /// Declares a value that may be absent.
    init<Value>(
        _ key: String,
        _ path: WritableKeyPath<Settings, Value?>,
        _ rule: ValueRule<Value>,
        fallback: String
    ) {
        self.init(.value, key, fallback: fallback, schema: rule.schema)
        read = { [key = self.key] source, settings in settings[keyPath: path] = source.read(key, rule) }
    }

    /// Declares the path of a file.
    init(file key: String, _ path: WritableKeyPath<Settings, String?>, fallback: String) {
        self.init(.value, key, fallback: fallback)
        read = { [key = self.key] source, settings in settings[keyPath: path] = source.path(key) }
    }

    /// The setting with its description, to which the bounds of its value are added.
    func described(_ text: String) -> Setting {
        var setting = self
        setting.description = bounds.map { "\(text); \($0)" } ?? text
        return setting
    }

    /// The names in the mapping around it that belong to the setting.
    var names: [String] { key.suffix(1).flatMap { form == .secret ? [$0, "\($0)File"] : [$0] } }

    /// The settings of a mapping.
    static func declared(under key: SettingKey) -> [Setting] {
        declared.filter { $0.key.dropLast() == key[...] }
    }
}
