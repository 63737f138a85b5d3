// SPDX-License-Identifier: Apache-2.0

import Formats
import Providers
import Verification

/// The parts of a running worker that hold replaceable secrets.
struct WorkerSecrets: Sendable {
    let keys: KeySource
    let providers: [ReplaceableProvider]
    let receipts: InForce<ReceiptSecrets>

    /// Creates a provider from its settings, with the worker's own client.
    let makeProvider: @Sendable (ProviderSettings) -> any MessageProvider

    init(
        _ configuration: CourierConfiguration,
        makeProvider: @escaping @Sendable (ProviderSettings) -> any MessageProvider
    ) {
        keys = KeySource(configuration.keys)
        providers = configuration.providers.map { ReplaceableProvider(makeProvider($0)) }
        receipts = InForce(configuration.providers.receiptSecrets)
        self.makeProvider = makeProvider
    }

    /// Applies the secrets of a configuration; providers that the worker did not start with are ignored.
    func replace(with configuration: CourierConfiguration) {
        keys.replace(with: configuration.keys)
        for settings in configuration.providers {
            providers.first { $0.name == settings.name }?.replace(with: makeProvider(settings))
        }
        // Old secrets are kept too, since a callback signed before the change may arrive after it.
        receipts.replace(with: configuration.providers.receiptSecrets.keeping(receipts.current))
    }
}
