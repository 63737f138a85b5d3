// SPDX-License-Identifier: Apache-2.0

import Formats
import FoundationEssentials
import Verification

/// A signed token in its compact form (JWT, RFC 7519; JWS, RFC 7515).
enum JSONWebToken {
    static func signed(header: JSONWriter, claims: JSONWriter, by sign: (Data) throws -> Data) rethrows -> String {
        let content = "\(Base64.encodeForURL(header.bytes)).\(Base64.encodeForURL(claims.bytes))"
        return "\(content).\(Base64.encodeForURL(Array(try sign(Data(content.utf8)))))"
    }
}
