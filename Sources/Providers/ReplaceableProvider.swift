// SPDX-License-Identifier: Apache-2.0

import Formats
package import Verification

/// A provider whose credentials may change while the worker runs: each message uses those in force.
///
/// Calls in progress end with the credentials that they began with; the old provider is released after the last of
/// them.
package struct ReplaceableProvider: MessageProvider {
    package let name: String
    package let channel: Channel
    package let isIdempotent: Bool
    private let provider: InForce<any MessageProvider>

    package init(_ provider: any MessageProvider) {
        name = provider.name
        channel = provider.channel
        isIdempotent = provider.isIdempotent
        self.provider = InForce(provider)
    }

    /// Replaces the provider, unless the new one differs in channel or idempotency.
    package func replace(with other: any MessageProvider) {
        guard other.channel == channel, other.isIdempotent == isIdempotent else { return }
        provider.replace(with: other)
    }

    package func send(_ message: OutboundMessage) async -> ProviderAnswer {
        await provider.current.send(message)
    }
}
