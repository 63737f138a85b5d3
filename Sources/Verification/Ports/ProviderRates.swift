// SPDX-License-Identifier: Apache-2.0

/// The providers' rate limits, shared by the whole fleet.
///
/// A worker takes tokens in chunks, a few times a second, not for each message.
package protocol ProviderRates: Sendable {
    /// Takes tokens of several providers at once, with one grant for each; throws if the database failed.
    func takeTokens(_ wanted: [String: TokenRequest]) async throws -> [String: TokenGrant]
}

/// The number of rate-limit tokens that a worker requests of one provider.
package struct TokenRequest: Sendable, Hashable {
    package let count: Int

    /// The limit in force from now on; it replaces any earlier one.
    package let rate: RateLimit

    package init(count: Int, rate: RateLimit) {
        self.count = count
        self.rate = rate
    }
}

/// The rate-limit tokens that a worker got: each allows one message to be sent within `ProviderTokens.shelfLife`.
package struct TokenGrant: Sendable, Hashable {
    package let count: Int

    /// The time until the next token is available to any worker.
    package let nextAfter: Duration

    package init(count: Int, nextAfter: Duration) {
        self.count = count
        self.nextAfter = nextAfter
    }
}
