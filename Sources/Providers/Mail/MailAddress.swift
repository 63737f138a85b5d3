// SPDX-License-Identifier: Apache-2.0

import CLibidn2
package import Verification

/// An e-mail address as mail servers take it, with its domain in ASCII.
///
/// A domain that is written in another script goes out in its `xn--` form, which every server can look up. Only what
/// stands before the `@` may be left beyond ASCII, and then a server must have SMTPUTF8 (RFC 6531).
package struct MailAddress: Sendable {
    package let text: String
    package let domain: String

    /// Whether a server without SMTPUTF8 must refuse it.
    let needsUTF8: Bool

    /// Nil for an address whose domain cannot exist by the rules of IDNA.
    package init?(_ address: EmailAddress) {
        guard let domain = Self.ascii(address.domain).flatMap({ HostName($0)?.text }) else { return nil }
        self.domain = domain
        text = "\(address.local)@\(domain)"
        needsUTF8 = !address.local.utf8.allSatisfy { $0 < 0x80 }
    }

    private static func ascii(_ domain: String) -> String? {
        if domain.utf8.allSatisfy({ $0 < 0x80 }) { return domain }
        let text = String(unsafeUninitializedCapacity: 256) { buffer in
            // SAFETY: the name ends in a zero, and the answer and its own zero fit into the buffer.
            buffer.withMemoryRebound(to: CChar.self) { max(0, courier_ascii_domain(domain, $0.baseAddress, 256)) }
        }
        return text.isEmpty ? nil : text
    }
}
