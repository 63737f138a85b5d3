// SPDX-License-Identifier: Apache-2.0

import Verification

/// The parts of a running worker that hold secrets, each of which takes new ones.
struct WorkerSecrets: Sendable {
    let keys: KeySource
    let providers: [ReplaceableProvider]
    let receipts: InForce<ReceiptSecrets>

    /// Makes a provider of its settings, with the worker's own client.
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

    /// Puts what a configuration says of secrets into force; providers that the worker did not start with are left out.
    func replace(with configuration: CourierConfiguration) {
        keys.replace(with: configuration.keys)
        for settings in configuration.providers {
            providers.first { $0.name == settings.name }?.replace(with: makeProvider(settings))
        }
        // A callback that was signed before a change may come after it.
        receipts.replace(with: configuration.providers.receiptSecrets.keeping(receipts.current))
    }
}
