// SPDX-License-Identifier: Apache-2.0

import Providers
import SettingsReading

/// The configuration file's scalars by key, and its lists and mappings.
struct FileSettings {
    /// The keys that variables can override, except those of providers.
    static let overridable = Setting.declared.filter { [.value, .secret].contains($0.form) }.flatMap { setting in
        setting.names.map { Array(setting.key.dropLast()) + [$0] }
    }

    /// The sections that variables can override, including providers.
    static let sectionNames = Setting.declared(under: []).flatMap(\.names)

    private(set) var scalars: [SettingKey: StatedValue] = [:]

    /// The keys that are misspelt or empty in the file; they are not reported as missing too.
    private(set) var faulty: Set<SettingKey> = []

    /// The lists and mappings with keys of their own, such as `kafka.options`.
    private(set) var structures: [SettingKey: YAMLValue] = [:]

    /// The providers of supported kinds, in file order.
    private(set) var providers: [ProviderEntry] = []

    /// True when the file has a list of providers, valid or not.
    private(set) var namesProviders = false

    /// Splits a file into settings; without a file everything comes from the environment.
    init(root: YAMLValue?) {
        guard let root = root?.mapping(keys: Self.sectionNames) else { return }
        takeSettings(of: root, under: [])
        let list = structures[["providers"]]
        namesProviders = list.map { !$0.isEmptyList } ?? root.misspelt.contains("providers")
        providers = list.map(ProviderEntry.read) ?? []
        for provider in providers {
            take(ProviderEntry.overridable, of: provider.mapping, under: provider.key)
        }
    }

    /// Takes the declared settings of a mapping, and of the mappings in it.
    private mutating func takeSettings(of mapping: YAMLMapping, under key: SettingKey) {
        for name in mapping.misspelt { faulty.formUnion(Self.overridable.filter { $0.starts(with: key + [name]) }) }
        for setting in Setting.declared(under: key) {
            switch setting.form {
            case .section:
                let names = Setting.declared(under: setting.key).flatMap(\.names)
                let inner = mapping[setting.names[0]]?.mapping(keys: names)
                if let inner { takeSettings(of: inner, under: setting.key) }
            case .structure: structures[setting.key] = mapping[setting.names[0]]
            case .value, .secret: take(setting.names, of: mapping, under: key)
            }
        }
    }

    private mutating func take(_ names: [String], of mapping: YAMLMapping, under key: SettingKey) {
        faulty.formUnion(mapping.misspelt.map { key + [$0] })
        for name in names {
            guard let value = mapping[name] else { continue }
            if let text = value.scalarText {
                scalars[key + [name]] = StatedValue(text: text, origin: .file(value))
            } else {
                faulty.insert(key + [name])
                value.fault(value.isNull ? "must not be empty; give it a value or remove it" : "must be a single value")
            }
        }
    }
}
