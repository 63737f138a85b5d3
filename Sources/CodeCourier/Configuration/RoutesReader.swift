// SPDX-License-Identifier: Apache-2.0

import Verification

/// The routes of a tenant: which providers are tried, in order.
struct RoutesReader {
    /// The configured providers; nil when they are not known.
    let providers: Set<String>?

    static func read(_ value: YAMLValue, providers: Set<String>?) -> Routes? {
        guard let mapping = value.mapping(keys: ["default", "regions"]) else { return nil }
        let reader = Self(providers: providers)
        guard let fallback = mapping.required("default", such: "[main]").map(reader.names) else { return nil }
        return Routes(fallback: fallback, regions: mapping["regions"].map(reader.regions) ?? [:])
    }

    private func regions(_ value: YAMLValue) -> [Region: [String]] {
        let entries = value.entries(.region, called: "a region") ?? []
        return Dictionary(entries.map { ($0.key, names($0.value)) }) { first, _ in first }
    }

    private func names(_ value: YAMLValue) -> [String] {
        if value.isEmptyList { value.fault("must name at least one provider") }
        var names: [String] = []
        for element in value.list(of: "providers") ?? [] {
            guard let name = element.read(.name(upTo: 64)) else { continue }
            if names.contains(name) { element.fault("names \(name) again; keep one") }
            if let providers, !providers.contains(name) {
                element.fault("names \(name), which is no configured provider\(configured(providers))")
            }
            names.append(name)
        }
        return names
    }

    private func configured(_ providers: Set<String>) -> String {
        providers.isEmpty ? "" : "; there are \(providers.sorted().joined(separator: ", "))"
    }
}
