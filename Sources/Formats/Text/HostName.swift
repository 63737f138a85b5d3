// SPDX-License-Identifier: Apache-2.0

/// A fully qualified host name in ASCII and lower case, such as `login.example.com`.
///
/// At least two labels of letters, digits and inner hyphens, each at most 63 characters, 253 in all; the last label is
/// not all digits, which excludes IPv4 addresses. Internationalised names are in their `xn--` form.
package struct HostName: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    package init?(_ text: String) {
        guard text.utf8.count <= 253 else { return nil }
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.count >= 2, let last = labels.last else { return nil }
        for label in labels {
            guard (1...63).contains(label.count), label.first != Self.hyphen, label.last != Self.hyphen else {
                return nil
            }
            guard label.allSatisfy({ $0.isASCIILetterOrDigit || $0 == Self.hyphen }) else { return nil }
        }
        guard last.contains(where: { !$0.isASCIIDigit }) else { return nil }
        self.text = text.lowercased()
    }

    package var description: String { text }

    private static let hyphen = UInt8(ascii: "-")
}
