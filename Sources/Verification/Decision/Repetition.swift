// SPDX-License-Identifier: Apache-2.0

/// The one more attempt for a send whose outcome nobody can know (`worker.unknownOutcome: resend_once`).
package struct Repetition: Sendable, Equatable {
    /// Why the outcome is unknown, and stays so unless a provider takes the repeat.
    package let reason: SendDisposition.UnknownReason

    /// The providers that refused the message, and last the one that may have it; nil where nobody knows which.
    package let triedProviders: [String]?

    package init(reason: SendDisposition.UnknownReason, triedProviders: [String]?) {
        self.reason = reason
        self.triedProviders = triedProviders
    }

    /// The provider that may have the message.
    package var doubtful: String? { triedProviders?.last }

    /// Those of a route's providers that the repeat may go to, in their order, and last the one that may have the message.
    ///
    /// That one would deliver it twice, unless it takes the send's id as an idempotency key. So would any, where nobody
    /// knows which one has it.
    package func order(_ providers: [String], idempotent: Set<String>) -> [String] {
        guard let triedProviders, let doubtful else { return providers.filter(idempotent.contains) }
        let others = providers.filter { !triedProviders.contains($0) }
        return idempotent.contains(doubtful) && providers.contains(doubtful) ? others + [doubtful] : others
    }
}
