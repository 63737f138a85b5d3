// SPDX-License-Identifier: Apache-2.0

import Formats
import Providers
import Verification

/// The parts of a running worker that hold replaceable secrets.
struct WorkerSecrets: Sendable {
    let keys: KeySource
    let providers: [ReplaceableProvider]
    let receipts: InForce<ReceiptSecrets>

    /// The providers that are told which messages were used, by name.
    let feedback: InForce<[String: any FeedbackProvider]>

    /// Creates a provider from its settings, with the worker's own client.
    let makeProvider: @Sendable (ProviderSettings) -> any MessageProvider
    private let makeFeedback: @Sendable (ProviderSettings) -> (any FeedbackProvider)?

    init(
        _ configuration: CourierConfiguration,
        makeProvider: @escaping @Sendable (ProviderSettings) -> any MessageProvider,
        makeFeedback: @escaping @Sendable (ProviderSettings) -> (any FeedbackProvider)? = { _ in nil }
    ) {
        keys = KeySource(configuration.keys)
        providers = configuration.providers.map { ReplaceableProvider(makeProvider($0)) }
        receipts = InForce(configuration.providers.receiptSecrets)
        self.makeProvider = makeProvider
        self.makeFeedback = makeFeedback
        feedback = InForce(configuration.providers.compactMap(makeFeedback).byName)
    }

    /// Applies the secrets of a configuration; providers that the worker did not start with are ignored.
    func replace(with configuration: CourierConfiguration) {
        keys.replace(with: configuration.keys)
        for settings in configuration.providers {
            providers.first { $0.name == settings.name }?.replace(with: makeProvider(settings))
        }
        feedback.replace(with: configuration.providers.compactMap(makeFeedback).byName)
        // Old secrets are kept too, since a callback signed before the change may arrive after it.
        receipts.replace(with: configuration.providers.receiptSecrets.keeping(receipts.current))
    }
}

extension [any FeedbackProvider] {
    fileprivate var byName: [String: any FeedbackProvider] {
        Dictionary(map { ($0.name, $0) }) { first, _ in first }
    }
}
