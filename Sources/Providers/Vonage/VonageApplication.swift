// SPDX-License-Identifier: Apache-2.0

import CryptoExtras
import FoundationEssentials
import Verification

/// A Vonage application, which proves itself with tokens that its RSA key signs (JWT, RFC 7519, RS256).
package struct VonageApplication: Sendable, Redacted {
    /// How long a token is valid: one call takes seconds, and both clocks may be a little off.
    private static let lifetime: Int64 = 300

    package let id: String
    private let key: _RSA.Signing.PrivateKey

    /// Nil when the text is no RSA private key of at least 2,048 bits in PEM form.
    package init?(id: String, privateKey: Secret) {
        guard let key = try? _RSA.Signing.PrivateKey(pemRepresentation: privateKey.revealed) else { return nil }
        self.id = id
        self.key = key
    }

    package var description: String { "VonageApplication(\(id))" }

    /// A token for one call; nil only when the key cannot sign.
    ///
    /// Its id is the `jti` claim, which Vonage takes once.
    func token(_ tokenID: UUIDValue, at time: Timestamp) -> String? {
        let seconds = time.microseconds / 1_000_000
        var claims = JSONWriter()
        claims.object { claims in
            claims.member("application_id", id)
            claims.member("iat", seconds)
            claims.member("exp", seconds + Self.lifetime)
            claims.member("jti", tokenID.description)
        }
        let header = #"{"alg":"RS256","typ":"JWT"}"#
        let signed = "\(Self.base64URL(Data(header.utf8))).\(Self.base64URL(Data(claims.bytes)))"
        guard let signature = try? key.signature(for: Data(signed.utf8), padding: .insecurePKCS1v1_5) else {
            return nil
        }
        return "\(signed).\(Self.base64URL(signature.rawRepresentation))"
    }

    private static func base64URL(_ data: Data) -> String {
        let text = data.base64EncodedString().utf8.compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
