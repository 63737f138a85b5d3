// SPDX-License-Identifier: Apache-2.0

/// A message by its provider and what that calls it; two providers may count alike.
package struct ProviderMessage: Sendable, Hashable {
    package let provider: String
    package let id: String

    package init(provider: String, id: String) {
        (self.provider, self.id) = (provider, id)
    }

    /// Nil where one of the two is not known.
    init?(_ provider: String?, _ id: String?) {
        guard let provider, let id else { return nil }
        self.init(provider: provider, id: id)
    }
}

extension ReportedSend {
    /// The message that it became, if that is known.
    var message: ProviderMessage? { ProviderMessage(provider, messageID) }
}

extension Receipt {
    /// The message that it names, if it names one.
    package var message: ProviderMessage? { ProviderMessage(provider, providerMessageID) }
}
