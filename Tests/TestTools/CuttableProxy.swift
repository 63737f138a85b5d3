// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import Synchronization

/// A TCP proxy in front of the test server, which simulates failures.
///
/// It can go away and come back, cut connections after a number of bytes, and damage a connection when a listener says
/// so.
package final class CuttableProxy: Sendable {
    package enum Side: Sendable {
        case client, server
    }

    /// The damage to a connection, from a given message of its client on.
    package enum Harm: Sendable {
        /// The server receives the message, and the connection ends before its answer.
        case swallowAnswer

        /// The connection ends before the server receives the message.
        case swallowRequest

        /// No more bytes are relayed, and the connection stays open.
        case fallSilent
    }

    /// Receives the bytes of one connection's client before the server does.
    package typealias Listener = @Sendable ([UInt8]) -> Harm?

    fileprivate struct State {
        var isAway = false
        var clients: [any Channel] = []
        var passed: [Side: Int] = [:]

        /// Number of bytes that are still relayed from one side before all connections are cut.
        var cut: (side: Side, bytes: Int)?

        /// Returns the number of bytes to relay, and the connections to close after them.
        mutating func pass(_ count: Int, from side: Side) -> (count: Int, cut: [any Channel]?) {
            guard let cut, cut.side == side else {
                passed[side, default: 0] += count
                return (count, nil)
            }
            let allowed = min(count, cut.bytes)
            passed[side, default: 0] += allowed
            self.cut?.bytes -= allowed
            guard allowed < count else { return (count, nil) }
            self.cut = nil
            defer { clients = [] }
            return (allowed, clients)
        }
    }

    package let url: String
    private let listener: any Channel
    private let state: Shared

    /// The state that the proxy shares with its connections.
    final class Shared: Sendable {
        fileprivate let state = Mutex(State())

        /// Relays as many bytes as allowed, and then closes every connection if a cut is due.
        func pass(_ bytes: ByteBuffer, from side: Side, to peer: any Channel) {
            let (count, cut) = state.withLock { $0.pass(bytes.readableBytes, from: side) }
            let part = bytes.getSlice(at: bytes.readerIndex, length: count) ?? ByteBuffer()
            peer.writeAndFlush(part).whenComplete { _ in
                for client in cut ?? [] { client.close(promise: nil) }
            }
        }
    }

    private init(url: String, listener: any Channel, state: Shared) {
        (self.url, self.listener, self.state) = (url, listener, state)
    }

    /// Runs a proxy for a URI's server during the body; each connection has its own listener.
    package static func with<Result>(
        to url: String,
        listener makeListener: @escaping @Sendable () -> Listener = { { _ in nil } },
        _ body: (CuttableProxy) async throws -> Result
    ) async throws -> Result {
        let target = try ProxyTarget(url)
        let shared = Shared()
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { client in
                let isAway = shared.state.withLock { state in
                    state.clients.append(client)
                    return state.isAway
                }
                if isAway { return client.eventLoop.makeFailedFuture(ChannelError.eof) }
                return Relay.connect(client, to: target, shared, listener: makeListener())
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let proxy = CuttableProxy(
            url: DatabaseURL(url).inClearText(port: listener.localAddress?.port ?? 0).text,
            listener: listener,
            state: shared
        )
        return try await doing {
            try await body(proxy)
        } afterwards: {
            proxy.goAway()
            try await listener.close()
        }
    }

    /// Closes every connection, and each new one at once.
    package func goAway() {
        let clients = state.state.withLock { state in
            defer { state.clients = [] }
            state.isAway = true
            return state.clients
        }
        for client in clients { client.close(promise: nil) }
    }

    package func comeBack() {
        state.state.withLock { $0.isAway = false }
    }

    /// Closes every connection after a number of further bytes from one side; new connections work at once.
    package func cut(after bytes: Int, from side: Side) {
        state.state.withLock { $0.cut = (side, bytes) }
    }

    package var isCutting: Bool { state.state.withLock { $0.cut != nil } }

    package func passed(from side: Side) -> Int { state.state.withLock { $0.passed[side, default: 0] } }
}
