// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import Synchronization

/// A TCP proxy before the test server, which can go away and come back, cut connections within what passes, and be told
/// by a listener to do harm to one.
package final class CuttableProxy: Sendable {
    /// One end of a connection.
    package enum Side: Sendable {
        case client, server
    }

    /// What is done to one connection from something on that its client has sent.
    package enum Harm: Sendable {
        /// The server gets it, its answer is lost with the connection.
        case swallowAnswer

        /// The connection ends before the server gets it.
        case swallowRequest

        /// Nothing passes any more, and the connection stays open.
        case fallSilent
    }

    /// Hears what the client of one connection sends, before the server does.
    package typealias Listener = @Sendable ([UInt8]) -> Harm?

    fileprivate struct State {
        var isAway = false
        var clients: [any Channel] = []
        var passed: [Side: Int] = [:]

        /// What still passes from one side before everything is cut.
        var cut: (side: Side, bytes: Int)?

        /// How many of some bytes pass, and the connections that end behind them.
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

    /// What the proxy's connections share with it.
    final class Shared: Sendable {
        fileprivate let state = Mutex(State())

        /// Passes as many bytes on as may pass, and cuts every connection behind them when that is due.
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

    /// Lends a proxy to the server of a URI; each connection has a listener of its own.
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

    /// Ends every connection, and each new one at once.
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

    /// Cuts every connection once so many more bytes have come from one side; new connections are welcome at once.
    package func cut(after bytes: Int, from side: Side) {
        state.state.withLock { $0.cut = (side, bytes) }
    }

    /// Whether a cut is still to come.
    package var isCutting: Bool { state.state.withLock { $0.cut != nil } }

    /// How many bytes have passed from one side.
    package func passed(from side: Side) -> Int { state.state.withLock { $0.passed[side, default: 0] } }
}
