// SPDX-License-Identifier: Apache-2.0

/// A message identified by its provider and the provider's id; ids of different providers may be equal.
package struct ProviderMessage: Sendable, Hashable {
    package let provider: String
    package let id: String

    package init(provider: String, id: String) {
        (self.provider, self.id) = (provider, id)
    }

    /// Nil unless both are known.
    init?(_ provider: String?, _ id: String?) {
        guard let provider, let id else { return nil }
        self.init(provider: provider, id: id)
    }
}

extension ReportedSend {
    /// The send's message at its provider, if known.
    var message: ProviderMessage? { ProviderMessage(provider, messageID) }
}

extension Receipt {
    package var message: ProviderMessage? { ProviderMessage(provider, providerMessageID) }
}
