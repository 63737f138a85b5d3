// SPDX-License-Identifier: Apache-2.0

/// A network of clients in CIDR notation: IPv4 up to /32, IPv6 up to /64, which one subscriber controls.
package struct IPNetwork: Sendable, Hashable, CustomStringConvertible {
    private let first: IPAddress.Bits
    private let length: Int

    package let description: String

    /// Reads `203.0.113.0/24` or `2001:db8::/32`; a plain address is a network of one client.
    ///
    /// Nil for bits behind the length: the author may have meant another network.
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
