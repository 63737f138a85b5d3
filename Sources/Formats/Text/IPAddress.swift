// SPDX-License-Identifier: Apache-2.0

/// The IPv4 or IPv6 address of a client, in one canonical spelling so that limits count it once.
///
/// IPv6 is written as RFC 5952 recommends; an IPv4-mapped address is written as IPv4. A text with a zone, a prefix
/// length or a port is rejected.
package struct IPAddress: Sendable, Hashable, Redacted {
    package let canonical: String

    /// The network that limits count: the IPv4 address, or the /64 network of IPv6, which one subscriber controls.
    package let network: String

    package init?(_ text: String) {
        guard text.utf8.count <= 45 else { return nil }
        guard text.utf8.contains(UInt8(ascii: ":")) else {
            // The parser accepts only one spelling of an IPv4 address.
            guard Self.version4(text[...]) != nil else { return nil }
            canonical = text
            network = text
            return
        }
        guard let groups = Self.version6(text) else { return nil }
        let isMapped = groups[0..<5].allSatisfy { $0 == 0 } && groups[5] == 0xffff
        canonical = isMapped ? Self.dotted(Self.bytes(of: groups[6...])) : Self.compressed(groups)
        // An IPv4 client behind a translator (RFC 6052) has no network of its own.
        let isTranslated = Array(groups[..<6]) == [0x64, 0xff9b, 0, 0, 0, 0]
        network =
            isMapped || isTranslated
            ? Self.dotted(Self.bytes(of: groups[6...])) : Self.compressed(Array(groups[..<4]) + [0, 0, 0, 0]) + "/64"
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

    private static func version4(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4)
        var number = 0
        var digits = 0
        for character in text.utf8 {
            if character == UInt8(ascii: ".") {
                guard digits > 0, bytes.count < 3 else { return nil }
                bytes.append(UInt8(number))
                (number, digits) = (0, 0)
            } else {
                // No byte has a leading zero.
                guard character.isASCIIDigit, digits == 0 || number > 0 else { return nil }
                number = number * 10 + Int(character - UInt8(ascii: "0"))
                digits += 1
                guard number <= 255 else { return nil }
            }
        }
        guard digits > 0, bytes.count == 3 else { return nil }
        bytes.append(UInt8(number))
        return bytes
    }

    /// The eight groups of an IPv6 address.
    private static func version6(_ text: String) -> [UInt16]? {
        var parts = text.split(separator: ":", omittingEmptySubsequences: false)
        // A leading or trailing `::` leaves two empty parts at that end; one of them marks the gap.
        if parts.first?.isEmpty == true {
            guard parts.count > 2, parts[1].isEmpty else { return nil }
            parts.removeFirst()
        }
        if parts.last?.isEmpty == true {
            guard parts.count > 1, parts[parts.count - 2].isEmpty else { return nil }
            parts.removeLast()
        }
        var groups: [UInt16] = []
        var gap: Int?
        for (index, part) in parts.enumerated() {
            if part.isEmpty {
                guard gap == nil else { return nil }
                gap = groups.count
            } else if part.utf8.count <= 4, part.utf8.allSatisfy({ Hexadecimal.value(of: $0) != nil }) {
                guard let group = UInt16(part, radix: 16) else { return nil }
                groups.append(group)
            } else {
                guard index == parts.count - 1, let bytes = version4(part) else { return nil }
                groups.append(UInt16(bytes[0]) << 8 | UInt16(bytes[1]))
                groups.append(UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
            }
        }
        guard let gap else { return groups.count == 8 ? groups : nil }
        guard groups.count < 8 else { return nil }
        groups.insert(contentsOf: Array(repeating: 0, count: 8 - groups.count), at: gap)
        return groups
    }

    /// The groups, with the longest run of two or more zeros as `::`, the first one of equal runs.
    private static func compressed(_ groups: [UInt16]) -> String {
        var longest = 0..<0
        var start = 0
        while start < groups.count {
            let end = groups[start...].firstIndex { $0 != 0 } ?? groups.count
            if end - start > max(longest.count, 1) { longest = start..<end }
            start = end + 1
        }
        let head = groups[..<longest.lowerBound].map { String($0, radix: 16) }.joined(separator: ":")
        let tail = groups[longest.upperBound...].map { String($0, radix: 16) }.joined(separator: ":")
        return longest.isEmpty ? tail : "\(head)::\(tail)"
    }

    private static func bytes(of groups: ArraySlice<UInt16>) -> [UInt8] {
        groups.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    }

    private static func dotted(_ bytes: [UInt8]) -> String {
        bytes.map { String($0) }.joined(separator: ".")
    }
}

extension Substring {
    fileprivate var isPort: Bool {
        first == ":" && UInt16(dropFirst()) != nil && dropFirst().utf8.allSatisfy(\.isASCIIDigit)
    }
}
