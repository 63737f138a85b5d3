// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Verification

/// A signed token in its compact form (JWT, RFC 7519; JWS, RFC 7515).
enum JSONWebToken {
    static func signed(header: JSONWriter, claims: JSONWriter, by sign: (Data) throws -> Data) rethrows -> String {
        let content = "\(base64URL(header.bytes)).\(base64URL(claims.bytes))"
        return "\(content).\(base64URL(try sign(Data(content.utf8))))"
    }

    /// The URL-safe alphabet of RFC 4648, section 5, without padding.
    private static func base64URL(_ bytes: some Sequence<UInt8>) -> String {
        let text = Data(bytes).base64EncodedString().utf8.compactMap { byte -> UInt8? in
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
