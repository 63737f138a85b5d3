// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import NIOCore
import NIOPosix
import Synchronization

/// Resolves and caches the addresses of providers' names, each name by a lookup of its own.
///
/// A lookup blocks, for ten seconds and more when a name server is down, and cannot be cancelled. So each name has its
/// own thread during a lookup, and one lookup at a time: a slow name delays no other one. An answer that arrives after
/// its connection has failed is used by the next connection. A stale answer is used until a newer one arrives.
final class NameResolver: Resolver, Sendable {
    /// Finds a name's addresses, the best first; may block, and throws when there are none.
    typealias Lookup = @Sendable (_ host: String, _ port: Int) throws -> [SocketAddress]

    private struct Name: Hashable, Sendable {
        let host: String
        let port: Int
    }

    private struct Entry: Sendable {
        /// The addresses of the last lookup; empty before the first one.
        var addresses: [SocketAddress] = []
        var freshUntil = NIODeadline.distantPast

        /// True after a failed connection: the next one waits for a fresh lookup and uses these addresses only if it
        /// fails.
        var isInDoubt = false

        /// The lookup in progress.
        var lookup: EventLoopFuture<[SocketAddress]>?
    }

    private let loop: any EventLoop
    private let freshness: TimeAmount
    private let lookup: Lookup
    private let entries = Mutex<[Name: Entry]>([:])

    /// Creates a resolver that completes on an event loop and looks a name up again after `freshness`.
    init(
        loop: any EventLoop,
        freshness: TimeAmount = .seconds(30),
        lookup: @escaping Lookup = NameResolver.resolveBySystem
    ) {
        self.loop = loop
        self.freshness = freshness
        self.lookup = lookup
    }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        addresses(of: host, port).map { addresses in
            addresses.filter { if case .v4 = $0 { true } else { false } }
        }
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        addresses(of: host, port).map { addresses in
            addresses.filter { if case .v6 = $0 { true } else { false } }
        }
    }

    /// Does nothing: a lookup continues, since its answer serves the next connection.
    func cancelQueries() {}

    private func addresses(of host: String, _ port: Int) -> EventLoopFuture<[SocketAddress]> {
        if let address = try? SocketAddress(ipAddress: host, port: port) {
            return loop.makeSucceededFuture([address])
        }
        let name = Name(host: host, port: port)
        return entries.withLock { entries in
            var entry = entries[name] ?? Entry()
            if entry.lookup == nil, entry.freshUntil <= NIODeadline.now() {
                entry.lookup = begin(name)
                entries[name] = entry
            }
            if let lookup = entry.lookup, entry.addresses.isEmpty { return lookup }
            if let lookup = entry.lookup, entry.isInDoubt {
                let addresses = entry.addresses
                return lookup.recover { _ in addresses }
            }
            return loop.makeSucceededFuture(entry.addresses)
        }
    }

    /// Marks a name's addresses as doubtful, since they may have changed: the next connection triggers a lookup.
    func doubt(_ host: String, _ port: Int) {
        let name = Name(host: host, port: port)
        entries.withLock { entries in
            entries[name]?.isInDoubt = true
            entries[name]?.freshUntil = .distantPast
        }
    }

    private func begin(_ name: Name) -> EventLoopFuture<[SocketAddress]> {
        let promise = loop.makePromise(of: [SocketAddress].self)
        // A queue of its own gets a thread of its own.
        DispatchQueue(label: "name lookup").async { [self] in
            let answer = Result { try lookup(name.host, name.port) }
            take(answer, for: name)
            promise.completeWith(answer)
        }
        return promise.futureResult
    }

    private func take(_ answer: Result<[SocketAddress], any Error>, for name: Name) {
        entries.withLock { entries in
            entries[name]?.lookup = nil
            guard case .success(let addresses) = answer, !addresses.isEmpty else { return }
            entries[name]?.addresses = addresses
            entries[name]?.isInDoubt = false
            entries[name]?.freshUntil = NIODeadline.now() + freshness
        }
    }
}

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
