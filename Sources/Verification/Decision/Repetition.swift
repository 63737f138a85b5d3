// SPDX-License-Identifier: Apache-2.0

/// The one more attempt for a send whose outcome is unknown (`worker.unknownOutcome: resend_once`).
package struct Repetition: Sendable, Equatable {
    /// The reason why the outcome is unknown; it stays unknown unless a provider takes the repeat.
    package let reason: SendDisposition.UnknownReason

    /// The providers that refused the message, then the one that may have it; nil if that one is not known.
    package let triedProviders: [String]?

    package init(reason: SendDisposition.UnknownReason, triedProviders: [String]?) {
        self.reason = reason
        self.triedProviders = triedProviders
    }

    package var doubtful: String? { triedProviders?.last }

    /// The route's providers that the repeat may go to, in order, the one that may have the message last.
    ///
    /// That provider would deliver the message twice, unless it accepts the send's id as an idempotency key. If it is
    /// not known, only providers with idempotency keys are safe.
    package func order(_ providers: [String], idempotent: Set<String>) -> [String] {
        guard let triedProviders, let doubtful else { return providers.filter(idempotent.contains) }
        let others = providers.filter { !triedProviders.contains($0) }
        return idempotent.contains(doubtful) && providers.contains(doubtful) ? others + [doubtful] : others
    }
}
