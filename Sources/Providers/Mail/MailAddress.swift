// SPDX-License-Identifier: Apache-2.0

import CLibidn2
import Formats
package import Verification

/// An e-mail address for mail servers, with its domain in ASCII.
///
/// A domain in another script is converted to its `xn--` form, which every server can look up. Only the part before the
/// `@` may stay non-ASCII, and then a server must support SMTPUTF8 (RFC 6531).
package struct MailAddress: Sendable {
    package let text: String
    package let domain: String

    /// True when only a server with SMTPUTF8 can accept it.
    let needsUTF8: Bool

    /// Converts an address; nil when its domain is invalid by IDNA.
    package init?(_ address: EmailAddress) {
        guard let domain = Self.ascii(address.domain).flatMap({ HostName($0)?.text }) else { return nil }
        self.domain = domain
        text = "\(address.local)@\(domain)"
        needsUTF8 = !address.local.utf8.allSatisfy { $0 < 0x80 }
    }

    private static func ascii(_ domain: String) -> String? {
        if domain.utf8.allSatisfy({ $0 < 0x80 }) { return domain }
        let text = String(unsafeUninitializedCapacity: 256) { buffer in
            // SAFETY: the name ends in a zero, and the answer with its own zero fits into the buffer.
            buffer.withMemoryRebound(to: CChar.self) { max(0, courier_ascii_domain(domain, $0.baseAddress, 256)) }
        }
        return text.isEmpty ? nil : text
    }
}
