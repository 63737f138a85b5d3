// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// A provider whose credentials may change while the worker runs: each message uses those in force.
///
/// Calls in progress end with the credentials that they began with; the old provider is released after the last of
/// them.
struct ReplaceableProvider: MessageProvider {
    let name: String
    let channel: Channel
    let isIdempotent: Bool
    private let provider: InForce<any MessageProvider>

    init(_ provider: any MessageProvider) {
        name = provider.name
        channel = provider.channel
        isIdempotent = provider.isIdempotent
        self.provider = InForce(provider)
    }

    /// Replaces the provider, unless the new one differs in channel or idempotency.
    func replace(with other: any MessageProvider) {
        guard other.channel == channel, other.isIdempotent == isIdempotent else { return }
        provider.replace(with: other)
    }

    func send(_ message: OutboundMessage) async -> ProviderAnswer {
        await provider.current.send(message)
    }
}
