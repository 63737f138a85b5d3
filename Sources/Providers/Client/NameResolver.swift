// SPDX-License-Identifier: Apache-2.0

import Dispatch
import NIOCore
import NIOPosix
import Synchronization

/// Knows the addresses of providers' names, and looks each name up by itself.
///
/// A lookup blocks, for ten seconds and more when a name server is dead, and cannot be cancelled. So each name has a
/// thread of its own while it is looked up, and one lookup at a time: a slow name delays no other one. An answer that
/// comes after the connection that wanted it was given up serves the next connection. An answer that is no longer fresh
/// serves until there is a newer one.
final class NameResolver: Resolver, Sendable {
    /// Finds a name's addresses, the best first; may block, and throws when there are none.
    typealias Lookup = @Sendable (_ host: String, _ port: Int) throws -> [SocketAddress]

    private struct Name: Hashable, Sendable {
        let host: String
        let port: Int
    }

    private struct Entry: Sendable {
        /// The last answer; empty before the first one.
        var addresses: [SocketAddress] = []
        var freshUntil = NIODeadline.distantPast

        /// Whether a connection has failed since: the next one waits for a new answer, and only without one takes these.
        var isInDoubt = false

        /// The lookup that is under way.
        var lookup: EventLoopFuture<[SocketAddress]>?
    }

    private let loop: any EventLoop
    private let freshness: TimeAmount
    private let lookup: Lookup
    private let entries = Mutex<[Name: Entry]>([:])

    /// A resolver that answers on an event loop, and looks a name up again when its addresses are not fresh any more.
    init(
        loop: any EventLoop,
        freshness: TimeAmount = .seconds(30),
        lookup: @escaping Lookup = NameResolver.askSystem
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

    /// A lookup goes on: its answer serves the next connection.
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

    /// Has the name looked up for the next connection, since its addresses may have moved.
    func doubt(_ host: String, _ port: Int) {
        let name = Name(host: host, port: port)
        entries.withLock { entries in
            entries[name]?.isInDoubt = true
            entries[name]?.freshUntil = .distantPast
        }
    }

    private func begin(_ name: Name) -> EventLoopFuture<[SocketAddress]> {
        let promise = loop.makePromise(of: [SocketAddress].self)
        // A queue of its own has a thread of its own.
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
