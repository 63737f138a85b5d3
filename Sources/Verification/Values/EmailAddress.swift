// SPDX-License-Identifier: Apache-2.0

import Formats

/// An e-mail address in its plain form, `local@domain`, in ASCII or in letters of any language (RFC 6531).
///
/// Stricter than RFC 5321 on purpose, since the address is written to message headers: no quoted local part, no
/// comment, no literal IP address, no bare host name. The local part has at most 64 characters, the whole at most 254.
/// Domains beyond ASCII are not looked up here: the provider rejects those that do not exist.
package struct EmailAddress: Sendable, Hashable, Redacted {
    /// The part before the `@`, unchanged, since its meaning is up to the receiving server.
    package let local: String

    /// The part after the `@`, in lower case.
    ///
    /// A domain in its `xn--` form and the same one in Unicode remain different.
    package let domain: String

    package var canonical: String { "\(local)@\(domain)" }

    package init?(_ text: String) {
        // Split by scalars, since a combining mark after an `@` or a dot would merge with it into one character.
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

    /// The first scalar, not the first character, which may have any number of combining marks.
    private static func first(of text: String) -> String {
        text.unicodeScalars.first.map { String($0) } ?? ""
    }

    /// A domain in lower case, or nil: a `HostName`, with letters of any language in its labels.
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

    /// True if the scalar may occur in an `atom` of RFC 5322, as extended by RFC 6532.
    private static func isOfAtom(_ scalar: Unicode.Scalar) -> Bool {
        isLetterOrDigit(scalar) || marks.contains(scalar)
    }

    /// True for ASCII letters and digits, and for all other scalars except control characters, spaces and general
    /// punctuation.
    ///
    /// The two joiners are allowed, since Persian and the languages of India are written with them.
    private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.isASCII else { return !invisible.contains { $0.contains(scalar.value) } }
        return UInt8(ascii: scalar).isASCIILetterOrDigit
    }

    private static let marks = Set("!#$%&'*+-/=?^_`{|}~".unicodeScalars)

    /// The scalars excluded beyond ASCII; `request.schema.json` has the same ranges.
    private static let invisible: [ClosedRange<UInt32>] = [
        0x80...0xa0, 0x2000...0x200b, 0x200e...0x206f, 0x3000...0x3000, 0xfeff...0xfeff,
    ]
}
