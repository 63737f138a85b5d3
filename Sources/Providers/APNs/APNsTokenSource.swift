// SPDX-License-Identifier: Apache-2.0

import Crypto
import Formats
import Synchronization
package import Verification

/// The provider token of a team, one for all pushes of the process.
///
/// Apple rejects a token older than an hour (`ExpiredProviderToken`), and a connection on which tokens change more
/// often than every 20 minutes (`TooManyProviderTokenUpdates`). So a token is used for 50 minutes. A token that Apple
/// calls expired is replaced, unless it is younger than a minute: then a clock is wrong, and a new token would be
/// rejected as well.
final class APNsTokenSource: Sendable {
    static let lifetime = Duration.seconds(50 * 60)
    static let leastAge = Duration.seconds(60)

    private struct Token {
        let text: String
        let issuedAt: Timestamp
    }

    private let configuration: APNsConfiguration
    private let now: @Sendable () -> Timestamp
    private let token = Mutex<Token?>(nil)

    init(_ configuration: APNsConfiguration, now: @escaping @Sendable () -> Timestamp) {
        self.configuration = configuration
        self.now = now
    }

    /// The token to use now, newly signed if the last one is older than `lifetime`.
    func current() throws -> String {
        try token.withLock { token in
            if let token, age(of: token) < Self.lifetime { return token.text }
            return try renew(&token)
        }
    }

    /// The token to use after Apple called `expired` expired; nil when there is no better one.
    func replacement(for expired: String) throws -> String? {
        try token.withLock { token in
            if let token, token.text != expired { return token.text }
            if let token, age(of: token) < Self.leastAge { return nil }
            return try renew(&token)
        }
    }

    private func renew(_ token: inout Token?) throws -> String {
        let time = now()
        let text = try configuration.key.token(
            keyID: configuration.keyID,
            teamID: configuration.teamID,
            issuedAt: time
        )
        token = Token(text: text, issuedAt: time)
        return text
    }

    /// The absolute time since a token's issue: after a clock is set back, a token from the future is old too.
    private func age(of token: Token) -> Duration {
        let age = now() - token.issuedAt
        return age < .zero ? .zero - age : age
    }
}

/// The private key of an Apple developer team, from the `.p8` file that Apple issues; never printed.
package struct APNsSigningKey: Sendable, Redacted {
    private let key: P256.Signing.PrivateKey

    /// Parses a PEM text; nil when it holds no private key on P-256, the curve that Apple uses.
    package init?(pem: Secret) {
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: pem.revealed) else { return nil }
        self.key = key
    }

    package var description: String { "<signing key>" }

    /// Signs a provider token (JWT, RFC 7519; ES256, RFC 7518) that states the key, the team and the time.
    func token(keyID: String, teamID: String, issuedAt time: Timestamp) throws -> String {
        var header = JSONWriter()
        header.object { members in
            members.member("alg", "ES256")
            members.member("kid", keyID)
        }
        var claims = JSONWriter()
        claims.object { members in
            members.member("iss", teamID)
            members.member("iat", time.microseconds / 1_000_000)
        }
        return try JSONWebToken.signed(header: header, claims: claims) { content in
            try key.signature(for: content).rawRepresentation
        }
    }
}
