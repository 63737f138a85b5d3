// SPDX-License-Identifier: Apache-2.0

package import SettingsReading
package import Verification

/// One element of the file's list of providers.
package struct ProviderEntry {
    package let name: String
    package let module: any ProviderModule.Type
    package let mapping: YAMLMapping

    /// The key of the provider's settings, in the environment too: by name, not by position.
    package var key: SettingKey { ["providers", name] }

    /// The scalar keys of its settings.
    package var keys: [String] { module.keys + Self.shared }

    /// Reads an element; nil, with faults, unless it has a name, a known kind and no unknown key.
    package init?(_ element: YAMLValue) {
        let known = element.peek("kind")?.scalarText.flatMap(Self.module(named:))
        let keys = known.map { $0.keys + $0.structures + Self.shared } ?? Self.overridable
        guard let mapping = element.mapping(keys: ["name", "kind"] + keys) else { return nil }
        let name = mapping.required("name", such: "main")?.read(.name(upTo: 64))
        let kind = mapping.required("kind", such: "twilio")
        guard let module = kind.flatMap({ $0.read(Self.kind(like: $0.scalarText)) }), let name else { return nil }
        (self.name, self.module, self.mapping) = (name, module, mapping)
    }

    /// The keys that `PROVIDERS_<NAME>_<KEY>` overrides in the environment.
    package static let overridable = ProviderModules.all.flatMap { $0.keys } + shared

    /// The keys whose values may legitimately be in quotes.
    package static let quotable = Set(ProviderModules.all.flatMap { $0.quotable })

    /// The keys of every kind.
    private static let shared = ["rate"]

    /// Finds a kind by its word, in any case.
    private static func module(named word: String) -> (any ProviderModule.Type)? {
        ProviderModules.all.first { $0.kind == word.lowercased() }
    }

    /// The rule of kinds, which suggests the nearest one.
    private static func kind(like text: String?) -> ValueRule<any ProviderModule.Type> {
        let kinds = ProviderModules.all.map { $0.kind }
        let nearest = text.flatMap { NearestKey.of($0, among: kinds) }
        let advice = nearest.map { "; did you mean \($0)?" } ?? ""
        let list = "\(kinds.dropLast().joined(separator: ", ")) or \(kinds.last ?? "")"
        return ValueRule(requirement: "must be \(list)\(advice)", parse: module(named:))
    }
}

extension [ProviderEntry] {
    /// The channel of each provider by name.
    package var channels: [String: Channel] {
        Dictionary(map { ($0.name, $0.module.channel) }) { first, _ in first }
    }
}
