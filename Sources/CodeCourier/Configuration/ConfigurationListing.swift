// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import KafkaClient
import PostgresClient
import Providers
import SettingsReading

/// Every setting with its value and the source of it; secrets are hidden.
///
/// Every value that may be a secret counts as one: the settings that have a `…File` beside them, the settings of SASL
/// and TLS, free texts, and URLs with a user or parameters.
struct ConfigurationListing {
    struct Entry: Equatable {
        let key: String

        /// The value as it is stated, or the default; nil without one, and for a secret.
        var value: String?
        var isHidden = false

        /// The place of the value, such as `courier.yaml:3`; nil for a default.
        var place: String?
    }

    let entries: [Entry]

    init(_ source: ConfigurationSource) {
        entries =
            Setting.declared.flatMap { setting -> [Entry] in
                switch setting.form {
                case .section: []
                case .structure: setting.key == ["kafka", "options"] ? Self.options(source) : []
                case .value: [Self.value(setting, source)]
                case .secret: [Self.secret(setting.key, source) ?? Entry(key: setting.key.joined(separator: "."))]
                }
            } + source.file.providers.flatMap { Self.provider($0, source) }
    }

    private static func value(_ setting: Setting, _ source: ConfigurationSource) -> Entry {
        let key = setting.key.joined(separator: ".")
        if let stated = source.setting(setting.key) {
            return Entry(key: key, value: stated.text, place: stated.origin.place)
        }
        let isUnset = ["none", "required"].contains(setting.fallback)
        return Entry(key: key, value: isUnset ? nil : setting.fallback.replacing("`", with: ""))
    }

    /// A secret that is set, as a value or in a file; nil without one.
    ///
    /// As in `SettingSource.secret`, the environment overrides the file for the value and its file together.
    private static func secret(_ key: SettingKey, _ source: ConfigurationSource) -> Entry? {
        let stated = [key, key.ofFile].compactMap { name in source.setting(name).map { (name, $0) } }
        let overriding = stated.first { if case .environment = $0.1.origin { true } else { false } }
        guard let (name, setting) = overriding ?? stated.first else { return nil }
        let isPath = name == key.ofFile
        if isPath { return path(name, setting, source) }
        let shown = key == ["postgres", "url"] ? database(setting.text) : nil
        return Entry(
            key: name.joined(separator: "."),
            value: shown,
            isHidden: shown == nil,
            place: setting.origin.place
        )
    }

    /// The path of a secret's file; hidden where there is no such file, since the text may be the secret itself.
    private static func path(_ key: SettingKey, _ setting: StatedValue, _ source: ConfigurationSource) -> Entry {
        let path = source.resolve(setting.text, at: setting.origin)
        let isThere = FileManager.default.fileExists(atPath: path)
        return Entry(
            key: key.joined(separator: "."),
            value: isThere ? path : nil,
            isHidden: !isThere,
            place: setting.origin.place
        )
    }

    /// The user, the hosts and the database of a URI.
    private static func database(_ url: String) -> String? {
        guard let keywords = try? ConnectionKeywords.parse(url) else { return nil }
        let user = keywords["user"].map { "\($0)@" } ?? ""
        return "postgresql://\(user)\(keywords["host"] ?? "")/\(keywords["dbname"] ?? "")"
    }

    private static func options(_ source: ConfigurationSource) -> [Entry] {
        let options = source.file.structures[["kafka", "options"]]?.entries(.optionName, called: "an option") ?? []
        return options.map { name, option in
            let origin = StatedValue.Origin.file(option)
            let key = ["kafka", "options", name]
            guard let text = option.scalarText, !name.hasSuffix("File") else {
                return path(key, StatedValue(text: option.scalarText ?? "", origin: origin), source)
            }
            let isHidden = isSecret(option: name) || KafkaConfiguration.refusal(of: name, text.trimmed) != nil
            return Entry(
                key: key.joined(separator: "."),
                value: isHidden ? nil : text.trimmed,
                isHidden: isHidden,
                place: origin.place
            )
        }
    }

    private static func isSecret(option name: String) -> Bool {
        guard name.hasPrefix("sasl.") || name.hasPrefix("ssl.") else { return false }
        return !name.hasPrefix("sasl.mechanism") && !name.hasSuffix(".location")
            && name != "ssl.endpoint.identification.algorithm"
    }

    private static func provider(_ entry: ProviderEntry, _ source: ConfigurationSource) -> [Entry] {
        let name = entry.key.joined(separator: ".")
        let kind = entry.mapping["kind"].map { StatedValue.Origin.file($0).place }
        let scalars = entry.keys.compactMap { key -> Entry? in
            let full = entry.key + [key]
            if entry.keys.contains("\(key)File") { return secret(full, source) }
            // The first of the pair has shown it.
            if key.hasSuffix("File"), entry.keys.contains(String(key.dropLast(4))) { return nil }
            guard let stated = source.setting(full) else { return nil }
            let isURL = stated.text.contains("://")
            let isHidden = ProviderEntry.quotable.contains(key) || isURL && stated.text.contains { "@?".contains($0) }
            return Entry(
                key: "\(name).\(key)",
                value: isHidden ? nil : stated.text,
                isHidden: isHidden,
                place: stated.origin.place
            )
        }
        let structures = entry.module.structures.compactMap { key in
            entry.mapping[key].map { value in
                Entry(key: "\(name).\(key)", isHidden: true, place: StatedValue.Origin.file(value).place)
            }
        }
        return [Entry(key: "\(name).kind", value: entry.module.kind, place: kind)] + scalars + structures
    }

    var lines: [String] {
        var table = TextTable(indent: 0)
        for entry in entries {
            let value = entry.isHidden ? "(hidden)" : entry.value ?? "(not set)"
            table.row(entry.key, value, entry.place ?? (entry.value == nil ? "" : "default"))
        }
        return table.lines
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.array("settings") { array in
                for entry in entries {
                    array.object { object in
                        object.member("key", entry.key)
                        object.member("value", ifPresent: entry.value)
                        object.member("hidden", entry.isHidden)
                        object.member("source", ifPresent: entry.place ?? (entry.value == nil ? nil : "default"))
                    }
                }
            }
        }
        return writer.bytes
    }
}
