// SPDX-License-Identifier: Apache-2.0

package import SettingsReading
package import Verification

/// The settings of one provider: those of its kind, and those that every provider has.
package struct ProviderSettings: Sendable {
    package let configuration: any ProviderModule

    /// The rate limit of the whole fleet for this provider; nil for no limit.
    package let rate: RateLimit?

    package var name: String { configuration.name }
    package var module: any ProviderModule.Type { type(of: configuration) }

    /// Reads the settings of an entry; nil, with faults, when they are incomplete.
    package init?(_ entry: ProviderEntry, _ source: any SettingSource) {
        let reader = ProviderReader(entry, source)
        rate = reader.optional("rate", .rate)
        guard let configuration = entry.module.init(reader) else { return nil }
        self.configuration = configuration
    }
}

extension [ProviderSettings] {
    /// The channel of each provider by name.
    package var channels: [String: Channel] { byName { $0.module.channel } }

    /// The fleet's rate limits by provider name.
    package var rates: [String: RateLimit] { byName { $0.rate } }

    /// The formats and signatures of receipts; the only provider of a kind is also found by the kind's name.
    package var receiptSecrets: ReceiptSecrets {
        let names = Set(map(\.name))
        let kinds = Dictionary(grouping: self) { $0.module.kind }
        return ReceiptSecrets(
            byName { $0.configuration.signature },
            aliases: kinds.filter { $1.count == 1 && !names.contains($0) }.mapValues { $0[0].name },
            formats: ProviderModules.all.compactMap { $0.receipts },
            formatsByName: byName { $0.module.receipts }
        )
    }

    /// The fault of a system without certificate authorities, where a provider depends on them; otherwise nil.
    ///
    /// Without them every call would fail, as in a container image that lacks the package.
    package func faultOfAuthorities(systems path: String? = SystemAuthorities.path) -> String? {
        guard path == nil, let provider = first(where: { $0.configuration.trustsSystem }) else { return nil }
        return "finds no certificate authorities on this system, by which \(provider.name) is trusted; install "
            + "ca-certificates, or give it a caFile where its kind takes one"
    }

    private func byName<Value>(_ value: (ProviderSettings) -> Value?) -> [String: Value] {
        Dictionary(compactMap { provider in value(provider).map { (provider.name, $0) } }) { first, _ in first }
    }
}

extension ValueRule where Value == RateLimit {
    /// A count in a unit of time, such as `10/s`.
    fileprivate static var rate: Self {
        let units: [String: Duration] = ["s": .seconds(1), "min": .seconds(60), "h": .seconds(3600)]
        let count = ValueRule<Int>.integer(in: 1...1_000_000)
        return Self(requirement: "must be a rate such as 10/s, 600/min or 5000/h, from 1 to 1000000 a unit") { text in
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, let count = count.parse(parts[0]), let unit = units[parts[1]] else { return nil }
            return RateLimit(count: count, per: unit)
        }
    }
}
