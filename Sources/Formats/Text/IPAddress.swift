// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The IPv4 or IPv6 address of a client, as the network that limits count.
///
/// A text with a zone, a prefix length or a port is rejected.
package struct IPAddress: Sendable, Hashable, Redacted {
    /// The IPv4 address, or the /64 network of IPv6, which one subscriber controls; each has one spelling.
    ///
    /// An IPv4 client has no network of its own in IPv6: not as a mapped address (RFC 4291), nor behind a translator
    /// (RFC 6052).
    package let network: String

    /// The network as a number.
    package let bits: Bits

    package init?(_ text: String) {
        // A C function would read only the text before a NUL.
        guard !text.utf8.contains(0) else { return nil }
        var version4 = in_addr()
        if inet_pton(AF_INET, text, &version4) == 1 {
            // The function accepts only one spelling of an IPv4 address.
            network = text
            bits = Bits(value: UInt64(UInt32(bigEndian: version4.s_addr)), length: 32)
            return
        }
        var version6 = in6_addr()
        guard inet_pton(AF_INET6, text, &version6) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: version6) { Array($0) }
        if Self.prefixesOfVersion4.contains(where: { bytes.starts(with: $0) }) {
            network = bytes.suffix(4).map { String($0) }.joined(separator: ".")
            bits = Bits(value: bytes.suffix(4).reduce(0) { $0 << 8 | UInt64($1) }, length: 32)
            return
        }
        var groups = (0..<4).map { UInt16(bytes[2 * $0]) << 8 | UInt16(bytes[2 * $0 + 1]) }
        bits = Bits(value: groups.reduce(0) { $0 << 16 | UInt64($1) }, length: 64)
        while groups.last == 0 { groups.removeLast() }
        network = groups.map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
    }

    /// Reads a peer's address as servers and proxies write it.
    ///
    /// With a port (`1.2.3.4:443`, `[::1]:443`), in brackets, or with a zone (`fe80::1%eth0`).
    package init?(peer text: String) {
        // Nearly every peer is a plain address.
        if let address = IPAddress(text) {
            self = address
            return
        }
        var address = text[...].drop { $0 == " " }
        while address.last == " " { address.removeLast() }
        if address.first == "[" {
            guard let end = address.firstIndex(of: "]") else { return nil }
            let rest = address[end...].dropFirst()
            guard rest.isEmpty || rest.isPort else { return nil }
            address = address[..<end].dropFirst()
        } else if let colon = address.firstIndex(of: ":"), address[..<colon].utf8.contains(UInt8(ascii: ".")) {
            guard address[colon...].isPort else { return nil }
            address = address[..<colon]
        }
        self.init(String(address.prefix { $0 != "%" }))
    }

    package var description: String { "address" }

    /// An IPv4 address, or the first 64 bits of an IPv6 address.
    package struct Bits: Sendable, Hashable {
        package let value: UInt64

        /// 32 or 64.
        package let length: Int

        /// The same address with zeros after the first `count` bits.
        func masked(to count: Int) -> Bits {
            let kept: UInt64 = count == 0 ? 0 : ~0 << UInt64(length - min(count, length))
            return Bits(value: value & kept, length: length)
        }
    }

    private static let prefixesOfVersion4: [[UInt8]] = [
        Array(repeating: 0, count: 10) + [0xff, 0xff], [0, 0x64, 0xff, 0x9b] + Array(repeating: 0, count: 8),
    ]
}

extension Substring {
    fileprivate var isPort: Bool {
        first == ":" && UInt16(dropFirst()) != nil && dropFirst().utf8.allSatisfy(\.isASCIIDigit)
    }
}

/// A network of clients in CIDR notation: IPv4 up to /32, IPv6 up to /64, which one subscriber controls.
package struct IPNetwork: Sendable, Hashable, CustomStringConvertible {
    private let first: IPAddress.Bits
    private let length: Int

    package let description: String

    /// Reads `203.0.113.0/24` or `2001:db8::/32`; a plain address is a network of one client.
    ///
    /// Nil if bits after the prefix length are set: the author may have meant another network.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bits = IPAddress(String(parts[0]))?.bits else { return nil }
        var length = bits.length
        if parts.count == 2 {
            guard let stated = Int(parts[1]), (0...bits.length).contains(stated), String(stated) == parts[1] else {
                return nil
            }
            length = stated
            if bits.masked(to: length) != bits { return nil }
        }
        (first, self.length, description) = (bits, length, text)
    }

    package func contains(_ address: IPAddress) -> Bool { address.bits.masked(to: length) == first }

    package static func == (one: IPNetwork, other: IPNetwork) -> Bool {
        one.first == other.first && one.length == other.length
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(first)
        hasher.combine(length)
    }
}

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
