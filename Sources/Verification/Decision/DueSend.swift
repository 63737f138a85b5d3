// SPDX-License-Identifier: Apache-2.0

/// A send whose lease or delay has run out.
package struct DueSend: Sendable {
    package enum State: String, Sendable {
        /// Waits for its next attempt.
        case pending

        /// Its worker never came to the mark: the message surely never left.
        case claimed

        /// Its worker may have handed the message over.
        case dispatching
    }

    package let reference: SendReference
    package let generation: Int32
    package let state: State
    package let deadline: Timestamp
    package let attempts: Int16

    /// Whether the one more attempt after an unknown outcome has been made.
    package let isRepeated: Bool

    /// The providers that refused the message in earlier claims.
    package let refusers: [String]

    /// The provider of the newest attempt that is told: of a retry the one that it waited for.
    package let retryProvider: String?

    /// The providers that refused the message, and last the one that it was marked for; nil where they were not written.
    package let triedProviders: [String]?

    /// Nil when the row's text is not one that this program writes.
    package let rendering: Rendering?

    package init(
        reference: SendReference,
        generation: Int32,
        state: State,
        deadline: Timestamp,
        attempts: Int16,
        isRepeated: Bool = false,
        refusers: [String] = [],
        retryProvider: String? = nil,
        triedProviders: [String]? = nil,
        rendering: Rendering?
    ) {
        self.reference = reference
        self.generation = generation
        self.state = state
        self.deadline = deadline
        self.attempts = attempts
        self.isRepeated = isRepeated
        self.refusers = refusers
        self.retryProvider = retryProvider
        self.triedProviders = triedProviders
        self.rendering = rendering
    }
}
