// SPDX-License-Identifier: Apache-2.0

package import Logging
package import SettingsReading
package import Verification

/// The kinds of providers, each with a folder of its own.
package enum ProviderModules {
    package static let all: [any ProviderModule.Type] = [
        TwilioConfiguration.self,
        VonageConfiguration.self,
        SNSConfiguration.self,
        GatewayConfiguration.self,
        SMTPConfiguration.self,
        APNsConfiguration.self,
        LogConfiguration.self,
    ]
}

/// One kind of provider, represented by the type of its settings: the only interface to the rest of the program.
package protocol ProviderModule: Sendable {
    /// The word for the kind in the configuration, in lower case.
    static var kind: String { get }

    /// The channel of its messages.
    static var channel: Channel { get }

    /// The scalar keys beside `name`, `kind` and `rate`, which variables can override.
    static var keys: [String] { get }

    /// The keys that are lists or mappings, which only the file can set.
    static var structures: [String] { get }

    /// The scalar keys whose values are free texts or patterns, which may legitimately be in quotes.
    static var quotable: Set<String> { get }

    /// The format of its receipts; nil where it sends none or the gateway normalises them.
    static var receipts: ReceiptFormat? { get }

    /// Reads the settings of one provider; nil, with faults, when they are incomplete.
    init?(_ settings: ProviderReader)

    /// The provider's name in routes and receipts.
    var name: String { get }

    /// The signature of its receipts; nil where that is not checked.
    var signature: ReceiptSecrets.Entry? { get }

    /// True when its certificate is verified by the system's authorities.
    var trustsSystem: Bool { get }

    /// Creates the provider, with the worker's own client.
    func provider(client: ProviderClient, logger: Logger) -> any MessageProvider

    /// Creates the one that tells the provider which messages were used; nil where that is off or not possible.
    func feedback(client: ProviderClient) -> (any FeedbackProvider)?
}

extension ProviderModule {
    package static var channel: Channel { .sms }
    package static var structures: [String] { [] }
    package static var quotable: Set<String> { [] }
    package static var receipts: ReceiptFormat? { nil }
    package var signature: ReceiptSecrets.Entry? { nil }
    package func feedback(client: ProviderClient) -> (any FeedbackProvider)? { nil }
}

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
