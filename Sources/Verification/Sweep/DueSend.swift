// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A send whose lease or delay has run out.
package struct DueSend: Sendable {
    package enum State: String, Sendable {
        /// The send waits for its next attempt.
        case pending

        /// Its worker never marked it as dispatching: the message was surely not sent.
        case claimed

        /// Its worker may have handed the message over.
        case dispatching
    }

    package let reference: SendReference
    package let generation: Int32
    package let state: State
    package let deadline: Timestamp
    package let attempts: Int16

    /// True if the one more attempt after an unknown outcome was made.
    package let isRepeated: Bool

    package let refusers: [String]

    /// The provider of the last recorded attempt; for a retry, the provider that it waits for.
    package let retryProvider: String?

    /// The providers that refused the message, then the one it was marked for; nil if they were not stored.
    package let triedProviders: [String]?

    /// The parameters of the message's text; nil if the row holds none that this version can read.
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
