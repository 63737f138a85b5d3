// SPDX-License-Identifier: Apache-2.0

package import Logging
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

/// One kind of provider, by the type of its settings: all that the rest of the program knows of it.
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
}

extension ProviderModule {
    package static var channel: Channel { .sms }
    package static var structures: [String] { [] }
    package static var quotable: Set<String> { [] }
    package static var receipts: ReceiptFormat? { nil }
    package var signature: ReceiptSecrets.Entry? { nil }
}
