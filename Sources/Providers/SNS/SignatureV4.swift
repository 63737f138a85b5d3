// SPDX-License-Identifier: Apache-2.0

import Crypto
import Formats
import FoundationEssentials
import Verification

/// AWS Signature Version 4 for POST requests to the path `/` without a query.
///
/// Its steps are those of AWS's reference ("Create a signed AWS API request"): a canonical request, a string to sign,
/// a key derived for the day, the region and the service, and the `Authorization` header.
struct SignatureV4 {
    let accessKey: AccessKey
    let region: String
    let service: String

    /// The headers to send: the given ones, and those that the signature adds.
    ///
    /// The given headers must include `Host` and `Content-Type`, with trimmed values.
    func signed(_ headers: [(name: String, value: String)], body: String, at time: Timestamp) -> [(String, String)] {
        let stamp = Self.stamp(time)
        var all = headers + [("X-Amz-Date", stamp)]
        if let token = accessKey.sessionToken { all.append(("X-Amz-Security-Token", token.revealed)) }
        let canonical = all.map { (name: $0.name.lowercased(), value: $0.value) }.sorted { $0.name < $1.name }
        let names = canonical.map(\.name).joined(separator: ";")
        let lines = canonical.map { "\($0.name):\($0.value)\n" }.joined()
        let request = "POST\n/\n\n\(lines)\n\(names)\n\(Self.hash(body))"

        let scope = "\(stamp.prefix(8))/\(region)/\(service)/aws4_request"
        let text = "AWS4-HMAC-SHA256\n\(stamp)\n\(scope)\n\(Self.hash(request))"
        let signature = hexadecimal(Array(Self.code(text, key: key(of: stamp.prefix(8)))))
        let credential = "Credential=\(accessKey.id)/\(scope)"
        let authorization = "AWS4-HMAC-SHA256 \(credential), SignedHeaders=\(names), Signature=\(signature)"
        return all.map { ($0.name, $0.value) } + [("Authorization", authorization)]
    }

    /// Derives the signing key of a day.
    private func key(of day: Substring) -> SymmetricKey {
        let secret = SymmetricKey(data: Data("AWS4\(accessKey.secret.revealed)".utf8))
        return [String(day), region, service, "aws4_request"].reduce(secret) { key, part in
            SymmetricKey(data: Self.code(part, key: key))
        }
    }

    private static func code(_ text: String, key: SymmetricKey) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
    }

    private static func hash(_ text: String) -> String {
        hexadecimal(Array(SHA256.hash(data: Data(text.utf8))))
    }

    /// The time as `20261120T123456Z`.
    private static func stamp(_ time: Timestamp) -> String {
        String(time.rfc3339.prefix(19).filter { $0 != "-" && $0 != ":" }) + "Z"
    }
}
