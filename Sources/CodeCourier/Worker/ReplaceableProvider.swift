// SPDX-License-Identifier: Apache-2.0

import Verification

/// A provider whose credentials may change while the worker runs: each message goes to the one that is in force.
///
/// Calls in progress end with the credentials that they began with; the provider that they hold goes with the last.
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

    /// Takes another one in its place, unless that is one of another kind.
    func replace(with other: any MessageProvider) {
        guard other.channel == channel, other.isIdempotent == isIdempotent else { return }
        provider.replace(with: other)
    }

    func send(_ message: OutboundMessage) async -> ProviderAnswer {
        await provider.current.send(message)
    }
}
