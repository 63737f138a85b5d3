// SPDX-License-Identifier: Apache-2.0

import Formats
import Hummingbird

/// The credentials in an `Authorization` header.
struct Credentials {
    private let scheme: String
    private let value: Substring

    init?(_ request: Request) {
        guard let header = request.headers[.authorization] else { return nil }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        scheme = parts[0].lowercased()
        value = parts[1]
    }

    /// Basic credentials with a name and a password, neither empty.
    var basic: (name: String, password: String)? {
        guard scheme == "basic", let bytes = Base64.decode(String(value)) else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: ":", maxSplits: 1)
        return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
    }

    var bearer: String? { scheme == "bearer" ? String(value) : nil }
}

/// A JSON Web Token without a check of its signature, since no key is known here.
struct TokenShape {
    let header: JSONObject
    let claims: JSONObject

    init?(_ token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard
            parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Self.bytes(parts[2]), !signature.isEmpty
        else { return nil }
        (self.header, self.claims) = (header, claims)
    }

    private static func object(_ part: Substring) -> JSONObject? {
        bytes(part).flatMap { JSONValue(body: $0)?.object }
    }

    /// Decodes Base64url without padding (RFC 7515).
    private static func bytes(_ part: Substring) -> [UInt8]? {
        let plain = part.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
        return Base64.decode(String(plain) + String(repeating: "=", count: (4 - plain.count % 4) % 4))
    }
}
