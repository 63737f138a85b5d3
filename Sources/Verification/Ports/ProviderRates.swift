// SPDX-License-Identifier: Apache-2.0

/// The limits of providers that the whole fleet shares.
///
/// A worker takes turns in chunks, a few times a second, and not one for each message.
package protocol ProviderRates: Sendable {
    /// Takes turns of several providers at once; each gets an answer. Errors mean that the database failed.
    func takeTurns(_ wanted: [String: TurnRequest]) async throws -> [String: TurnGrant]
}

/// The turns that a worker would like to have of one provider.
package struct TurnRequest: Sendable, Hashable {
    package let count: Int

    /// The limit that holds from now on, whatever it was before.
    package let rate: RateLimit

    package init(count: Int, rate: RateLimit) {
        self.count = count
        self.rate = rate
    }
}

/// The turns that a worker got: each one is a message that may leave within `ProviderTurns.shelfLife`.
package struct TurnGrant: Sendable, Hashable {
    package let count: Int

    /// How long until there is another turn for anybody.
    package let nextAfter: Duration

    package init(count: Int, nextAfter: Duration) {
        self.count = count
        self.nextAfter = nextAfter
    }
}
