// SPDX-License-Identifier: Apache-2.0

/// An e-mail address in the plain form that every mail server takes: `local@domain` in ASCII.
///
/// Stricter than RFC 5321 on purpose, since the address goes into headers of a message: no quoted local part, no comment,
/// no literal IP address, no bare host name. The local part has at most 64 characters, the whole at most 254.
package struct EmailAddress: Sendable, Hashable, Redacted {
    /// The address with its domain in lower case; the local part belongs to the receiving server and stays as it is.
    package let canonical: String

    package init?(_ text: String) {
        guard text.utf8.count <= 254 else { return nil }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let domain = HostName(String(parts[1])) else { return nil }
        let atoms = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        guard parts[0].utf8.count <= 64, atoms.allSatisfy(Self.isAtom) else { return nil }
        canonical = "\(parts[0])@\(domain.text)"
    }

    /// The first letter of the local part and of the domain, and the top-level domain: `a***@e***.com`.
    package var masked: String {
        let domain = canonical.drop { $0 != "@" }.dropFirst()
        let topLevel = domain.split(separator: ".").last ?? ""
        return "\(canonical.prefix(1))***@\(domain.prefix(1))***.\(topLevel)"
    }

    package var description: String { masked }

    /// Whether a text is an `atom` of RFC 5322 in ASCII.
    private static func isAtom(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || marks.contains($0) }
    }

    private static let marks = Set("!#$%&'*+-/=?^_`{|}~".utf8)
}
