// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOCore

extension NameResolver {
    /// The name has no address, or the lookup failed.
    struct NotFound: Error {}

    /// Resolves with `getaddrinfo`, which blocks and orders the addresses by RFC 6724.
    static func resolveBySystem(host: String, port: Int) throws -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_protocol = Int32(IPPROTO_TCP)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &first) == 0 else { throw NotFound() }
        defer { freeaddrinfo(first) }
        var addresses: [SocketAddress] = []
        var next = first
        while let entry = next {
            if let address = address(of: host, in: entry.pointee) { addresses.append(address) }
            next = entry.pointee.ai_next
        }
        guard !addresses.isEmpty else { throw NotFound() }
        return addresses
    }

    private static func address(of host: String, in entry: addrinfo) -> SocketAddress? {
        guard let bytes = UnsafeRawPointer(entry.ai_addr) else { return nil }
        return switch entry.ai_family {
        case AF_INET: SocketAddress(bytes.load(as: sockaddr_in.self), host: host)
        case AF_INET6: SocketAddress(bytes.load(as: sockaddr_in6.self), host: host)
        default: nil
        }
    }
}
