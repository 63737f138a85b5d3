// SPDX-License-Identifier: Apache-2.0

import Formats

/// The link in an e-mail, with the parameters that Firebase Authentication uses, so that apps can claim it.
///
/// The page or app behind the link requests the e-mail address, unless it remembers it, and passes address,
/// `verificationId` and `oobCode` to the verifier, which calls `courier.check_code`; only this call uses the link up.
/// The page must not make that call when it is merely fetched: mail servers' scanners open every link before its reader
/// does.
///
/// `tenantId` and `purpose` are inputs of the token's hash, so a link with changed ones counts as a wrong guess. The
/// other parameters are those of the request's action code. Its description is hidden, since it holds the token.
package struct ActionLink: Sendable, Hashable, Redacted {
    /// The whole URL, made of unreserved characters, percent signs and delimiters only.
    package let url: String

    /// Creates the link of a verification; nil if the action code has no URL to continue to.
    ///
    /// Its host is the action code's `linkDomain`, or else the URL's host: both are the tenant's own domains.
    package init?(
        token: DerivedSecret,
        verification: VerificationID,
        tenant: String,
        purpose: Purpose,
        language: String,
        actionCode: RequestActionCode,
        path: String = EmailLinkPolicy.defaultPath
    ) {
        guard let target = actionCode.url else { return nil }
        let parameters: [(name: String, value: String?)] = [
            ("mode", "signIn"),
            ("oobCode", token.text),
            ("verificationId", verification.description),
            ("tenantId", tenant),
            ("purpose", purpose.rawValue),
            ("lang", language),
            ("continueUrl", target.text),
            ("iosBundleId", actionCode.iosBundleID),
            ("androidPackageName", actionCode.androidPackageName),
            ("androidMinimumVersion", actionCode.androidMinimumVersion),
            ("androidInstallApp", actionCode.androidInstallApp.map { $0 ? "true" : "false" }),
        ]
        let query = parameters.compactMap { name, value in value.map { "\(name)=\(Self.encode($0))" } }
        let origin = actionCode.linkDomain.map { "https://\($0.text)" } ?? target.origin
        url = "\(origin)\(path)?\(query.joined(separator: "&"))"
    }

    package var description: String { "<link>" }

    /// Percent-encodes every byte except the unreserved characters of RFC 3986, section 2.3.
    private static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if byte.isASCIILetterOrDigit || unreservedMarks.contains(byte) {
                encoded.append(byte)
            } else {
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static let unreservedMarks = Array("-._~".utf8)
}
