// SPDX-License-Identifier: Apache-2.0

import Crypto
import Formats
import Verification

/// Vonage's signatures of the SMS API and of the Messages API.
///
/// Neither is checked for its age: a receipt may wait in Kafka for longer than a token is valid, and a replayed one
/// changes nothing.
struct VonageSignature: ReceiptSignature {
    /// The digest of `sig` in the SMS API, by the account's settings.
    enum Digest: String, CaseIterable {
        /// MD5 over the parameters followed by the secret; the other cases are HMACs.
        case md5Hash = "md5hash"
        case md5 = "md5"
        case sha1 = "sha1"
        case sha256 = "sha256"
        case sha512 = "sha512"
    }

    let digest: Digest

    /// The maximum size of a callback, far above Vonage's: a larger one is rejected before anything is computed.
    private static let longestCallback = 16 * 1024

    /// True with the parameter `sig`, which signs the SMS API's parameters; the Messages API signs in a header.
    func isStated(in record: ReceiptRecord) -> Bool { record.parameters["sig"] != nil }

    func isValid(_ record: ReceiptRecord, _ secrets: [[UInt8]], _ attempts: inout SignatureAttempts) -> Bool {
        let size = record.parameters.reduce(record.body?.utf8.count ?? 0) {
            $0 + $1.key.utf8.count + $1.value.utf8.count
        }
        guard size <= Self.longestCallback * 2 else { return false }
        if let authorization = record.headers?["authorization"], let token = Self.bearer(authorization) {
            // The token covers only the body, so the parameters must be the body's own.
            guard let body = record.body, record.isBodyRead else { return false }
            return secrets.contains { Self.isValid(token: token, body: body, $0, &attempts) }
        }
        guard let signature = record.parameters["sig"].flatMap({ Hexadecimal.bytes($0.utf8) }) else { return false }
        let signed = Self.signedText(record.parameters)
        return secrets.contains { isValid(signature, of: signed, $0, &attempts) }
    }

    /// The signed text: the parameters except `sig`, sorted by name, as `&name=value`.
    ///
    /// `&` and `=` in values become `_` (Vonage, "Signing messages").
    private static func signedText(_ parameters: [String: String]) -> [UInt8] {
        var text: [UInt8] = []
        for (name, value) in parameters.sortedByName where name != "sig" {
            text.append(UInt8(ascii: "&"))
            text.append(contentsOf: name.utf8)
            text.append(UInt8(ascii: "="))
            text.append(
                contentsOf: value.utf8.map { byte in
                    byte == UInt8(ascii: "&") || byte == UInt8(ascii: "=") ? UInt8(ascii: "_") : byte
                }
            )
        }
        return text
    }

    private func isValid(
        _ signature: [UInt8],
        of signed: [UInt8],
        _ secret: [UInt8],
        _ attempts: inout SignatureAttempts
    ) -> Bool {
        let key = SymmetricKey(data: secret)
        return switch digest {
        case .md5Hash: attempts.isValid { Insecure.MD5.hash(data: signed + secret) == signature }
        case .md5: attempts.isValid(signature, of: signed, key, HMAC<Insecure.MD5>.self)
        case .sha1: attempts.isValid(signature, of: signed, key, HMAC<Insecure.SHA1>.self)
        case .sha256: attempts.isValid(signature, of: signed, key, HMAC<SHA256>.self)
        case .sha512: attempts.isValid(signature, of: signed, key, HMAC<SHA512>.self)
        }
    }
}

// MARK: - The token of the Messages API

extension VonageSignature {
    /// True if a JSON web token is signed with HS256 and the secret, and its `payload_hash` is the body's SHA-256.
    private static func isValid(
        token: Substring,
        body: String,
        _ secret: [UInt8],
        _ attempts: inout SignatureAttempts
    ) -> Bool {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return false }
        guard let signature = Base64.decode(url: parts[2]) else { return false }
        let (signed, key) = (Array("\(parts[0]).\(parts[1])".utf8), SymmetricKey(data: secret))
        guard attempts.isValid(signature, of: signed, key, HMAC<SHA256>.self) else { return false }
        guard let header = object(parts[0]), case .string("HS256")? = header["alg"] else { return false }
        guard let claims = object(parts[1]), let text = claims.text("payload_hash") else { return false }
        guard let hash = Hexadecimal.bytes(text.utf8) else { return false }
        return SHA256.hash(data: Array(body.utf8)) == hash
    }

    private static func bearer(_ authorization: String) -> Substring? {
        let parts = authorization.split(separator: " ")
        return parts.count == 2 && parts[0].lowercased() == "bearer" ? parts[1] : nil
    }

    private static func object(_ part: Substring) -> JSONObject? {
        guard let bytes = Base64.decode(url: part) else { return nil }
        guard case .object(let object)? = try? JSONScanner.parse(bytes) else { return nil }
        return object
    }
}

extension Base64 {
    /// Decodes base64url without padding (RFC 4648, section 5).
    fileprivate static func decode(url text: Substring) -> [UInt8]? {
        let digits = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        let padding = String(repeating: "=", count: (4 - digits.count % 4) % 4)
        return decode(String(decoding: digits, as: UTF8.self) + padding)
    }
}
