// SPDX-License-Identifier: Apache-2.0

import CryptoExtras
import Formats
import FoundationEssentials
package import Verification

/// A Vonage application, which authenticates with tokens signed by its RSA key (JWT, RFC 7519, RS256).
package struct VonageApplication: Sendable, Redacted {
    /// The validity of a token, in seconds: a call takes seconds, and the two clocks may differ a little.
    private static let lifetime: Int64 = 300

    package let id: String
    private let key: _RSA.Signing.PrivateKey

    /// Parses a key; nil when the text is no RSA private key of at least 2,048 bits in PEM form.
    package init?(id: String, privateKey: Secret) {
        guard let key = try? _RSA.Signing.PrivateKey(pemRepresentation: privateKey.revealed) else { return nil }
        self.id = id
        self.key = key
    }

    package var description: String { "VonageApplication(\(id))" }

    /// Signs a token for one call; nil only when the key cannot sign.
    ///
    /// `tokenID` becomes the `jti` claim, which Vonage accepts once.
    func token(_ tokenID: UUIDValue, at time: Timestamp) -> String? {
        let seconds = time.microseconds / 1_000_000
        var claims = JSONWriter()
        claims.object { claims in
            claims.member("application_id", id)
            claims.member("iat", seconds)
            claims.member("exp", seconds + Self.lifetime)
            claims.member("jti", tokenID.description)
        }
        var header = JSONWriter()
        header.object { header in
            header.member("alg", "RS256")
            header.member("typ", "JWT")
        }
        return try? JSONWebToken.signed(header: header, claims: claims) { content in
            try key.signature(for: content, padding: .insecurePKCS1v1_5).rawRepresentation
        }
    }
}
