// SPDX-License-Identifier: Apache-2.0

import Crypto
import Formats
import NIOCore

/// Signs receipts as their provider does, so that a gateway's check of signatures can be tried.
struct CallbackSignature: Sendable {
    private let key: SymmetricKey

    init(secret: String) {
        key = SymmetricKey(data: Array(secret.utf8))
    }

    /// The receipt's parameters; Vonage's SMS API signs them by one more, `sig` (Vonage, "Signing messages").
    func parameters(of receipt: SandboxReceipt) -> [String: String] {
        var parameters = receipt.parameters
        guard receipt.provider == .vonage else { return parameters }
        parameters["timestamp"] = String(Timestamp.now.milliseconds / 1000)
        parameters["nonce"] = Identifier.uuid()
        let signed = parameters.sorted { $0.key < $1.key }.map { name, value in
            "&\(name)=\(value.replacing("&", with: "_").replacing("=", with: "_"))"
        }
        parameters["sig"] = hexadecimal(code(of: signed.joined())).uppercased()
        return parameters
    }

    /// The header that signs the request; nil where the parameters have the signature.
    ///
    /// Twilio's covers the URL and the parameters, Vonage's Messages API has a token with the body's hash, and an HTTP
    /// gateway signs the body.
    func header(
        of provider: SandboxProvider,
        _ url: String,
        _ parameters: [String: String],
        _ body: ByteBuffer
    ) -> (name: String, value: String)? {
        switch provider {
        case .twilio:
            let signed = url + parameters.sorted { $0.key < $1.key }.map { $0.key + $0.value }.joined()
            let code = HMAC<Insecure.SHA1>.authenticationCode(for: Array(signed.utf8), using: key)
            return ("x-twilio-signature", Base64.encode(Array(code)))
        case .vonageMessages:
            return ("authorization", "Bearer \(token(of: body))")
        case .http:
            return ("x-signature", "sha256=\(hexadecimal(code(of: String(buffer: body))))")
        case .vonage, .sns, .smtp, .apns:
            return nil
        }
    }

    /// A JSON Web Token of a status callback (Vonage, "Signed webhooks").
    private func token(of body: ByteBuffer) -> String {
        let header = Self.part {
            $0.member("alg", "HS256")
            $0.member("typ", "JWT")
        }
        let claims = Self.part {
            $0.member("iat", Timestamp.now.milliseconds / 1000)
            $0.member("jti", Identifier.uuid())
            $0.member("iss", "Vonage")
            $0.member("payload_hash", hexadecimal(Array(SHA256.hash(data: Array(body.readableBytesView)))))
        }
        let signed = "\(header).\(claims)"
        return "\(signed).\(Base64.encodeForURL(code(of: signed)))"
    }

    private static func part(_ members: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.object(members)
        return Base64.encodeForURL(writer.bytes)
    }

    private func code(of text: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
    }
}
