// SPDX-License-Identifier: Apache-2.0

/// An e-mail address in its plain form, `local@domain`, in ASCII or in letters of any language (RFC 6531).
///
/// Stricter than RFC 5321 on purpose, since the address goes into headers of a message: no quoted local part, no comment,
/// no literal IP address, no bare host name. The local part has at most 64 characters, the whole at most 254. Whether a
/// domain beyond ASCII can exist is the provider's to know, which looks it up.
package struct EmailAddress: Sendable, Hashable, Redacted {
    /// What stands before the `@`; it belongs to the receiving server and stays as it is.
    package let local: String

    /// What stands behind it, in lower case.
    ///
    /// A name in the `xn--` form and the one that it stands for remain two.
    package let domain: String

    /// The address with its domain in lower case.
    package var canonical: String { "\(local)@\(domain)" }

    package init?(_ text: String) {
        // Of scalars, since a mark behind an `@` or a dot makes one character of both.
        let scalars = text.unicodeScalars
        guard scalars.count <= 254 else { return nil }
        let parts = scalars.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].count <= 64, let domain = Self.domain(parts[1]) else { return nil }
        let atoms = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        guard atoms.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isOfAtom) }) else { return nil }
        local = String(parts[0])
        self.domain = domain
    }

    /// The first letter of the local part and of the domain, and the top-level domain: `a***@e***.com`.
    package var masked: String {
        let topLevel = domain.unicodeScalars.split(separator: ".").last.map { String($0) } ?? ""
        return "\(Self.first(of: local))***@\(Self.first(of: domain))***.\(topLevel)"
    }

    package var description: String { masked }

    /// One scalar, since any number of marks may belong to a character.
    private static func first(of text: String) -> String {
        text.unicodeScalars.first.map { String($0) } ?? ""
    }

    /// A domain in lower case, or nil: as a `HostName`, with letters of any language in its labels.
    private static func domain(_ scalars: Substring.UnicodeScalarView) -> String? {
        let text = String(scalars)
        guard !scalars.allSatisfy(\.isASCII) else { return HostName(text)?.text }
        let labels = scalars.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count >= 2, let last = labels.last else { return nil }
        for label in labels {
            guard (1...63).contains(label.count), label.first != "-", label.last != "-",
                label.allSatisfy({ $0 == "-" || isLetterOrDigit($0) })
            else { return nil }
        }
        guard last.contains(where: { !("0"..."9").contains($0) }) else { return nil }
        return text.lowercased()
    }

    /// Whether a scalar may stand in an `atom` of RFC 5322, as RFC 6532 widens it.
    private static func isOfAtom(_ scalar: Unicode.Scalar) -> Bool {
        isLetterOrDigit(scalar) || marks.contains(scalar)
    }

    /// Whether a scalar is a letter or digit of ASCII, or any beyond ASCII but control characters, spaces and general
    /// punctuation, of which the two joiners remain that Persian and the languages of India write with.
    private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.isASCII else { return !invisible.contains { $0.contains(scalar.value) } }
        return UInt8(ascii: scalar).isASCIILetterOrDigit
    }

    private static let marks = Set("!#$%&'*+-/=?^_`{|}~".unicodeScalars)

    /// The same ranges stand in `request.schema.json`.
    private static let invisible: [ClosedRange<UInt32>] = [
        0x80...0xa0, 0x2000...0x200b, 0x200e...0x206f, 0x3000...0x3000, 0xfeff...0xfeff,
    ]
}
