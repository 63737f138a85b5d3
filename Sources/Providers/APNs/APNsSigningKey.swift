// SPDX-License-Identifier: Apache-2.0

import Crypto
import Formats
package import Verification

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
