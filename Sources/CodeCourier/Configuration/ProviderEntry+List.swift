// SPDX-License-Identifier: Apache-2.0

import Providers
import SettingsReading

extension ProviderEntry {
    /// Reads the file's list of providers; names and environment variables that collide are faults.
    static func read(_ value: YAMLValue) -> [ProviderEntry] {
        var entries: [ProviderEntry] = []
        var taken: Set<String> = []
        for element in value.list(of: "providers `{ name: main, kind: twilio, … }`") ?? [] {
            guard let entry = ProviderEntry(element) else { continue }
            let variables = entry.variables
            if entries.contains(where: { $0.name == entry.name }) {
                entry.mapping["name"]?.fault("is the name of an earlier provider too; rename one")
            } else if !taken.isDisjoint(with: variables) {
                element.fault("shares an environment variable with an earlier provider; rename one")
            }
            taken.formUnion(variables)
            entries.append(entry)
        }
        return entries
    }

    /// The environment variables of the provider's settings, to detect collisions.
    ///
    /// In variables, `us-main`, `us_main` and `usMain` are the same, and `us_api` with `secret` is `us` with
    /// `apiSecret`.
    var variables: Set<String> {
        Set(keys.map { ConfigurationSource.variableName(key + [$0]) })
    }
}

extension [ProviderSettings] {
    /// Reads the settings of the listed providers; a configuration without any is a fault.
    static func read(_ source: ConfigurationSource) -> [ProviderSettings] {
        if source.file.providers.isEmpty, !source.file.namesProviders, source.isUnderstood {
            let message = "is required; list at least one in the file, such as { name: main, kind: log }"
            source.faults.report(line: nil, key: "providers", message)
        }
        let providers = source.file.providers.compactMap { ProviderSettings($0, source) }
        if let fault = providers.faultOfAuthorities() {
            source.faults.report(line: nil, key: "providers", fault)
        }
        return providers
    }
}
