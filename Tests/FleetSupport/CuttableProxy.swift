// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import Synchronization

@testable import PostgresClient

/// A TCP proxy before the test server, which can go away and come back, and cut connections within what passes.
package final class CuttableProxy: Sendable {
    /// One end of a connection.
    package enum Side: Sendable {
        case client, server
    }

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
    fileprivate final class Shared: Sendable {
        let state = Mutex(State())

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

    /// Lends a proxy to the server of a URI.
    package static func with<Result>(
        to url: String,
        _ body: (CuttableProxy) async throws -> Result
    ) async throws -> Result {
        let target = try Target(url)
        let shared = Shared()
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { client in
                let isAway = shared.state.withLock { state in
                    state.clients.append(client)
                    return state.isAway
                }
                if isAway { return client.eventLoop.makeFailedFuture(ChannelError.eof) }
                return connect(client, to: target, shared)
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let proxy = CuttableProxy(
            url: DatabaseURL(url).with(port: listener.localAddress?.port ?? 0).text,
            listener: listener,
            state: shared
        )
        let outcome: Swift.Result<Result, any Error>
        do {
            outcome = .success(try await body(proxy))
        } catch {
            outcome = .failure(error)
        }
        proxy.goAway()
        try await listener.close()
        return try outcome.get()
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

    private static func connect(
        _ client: any Channel,
        to target: Target,
        _ shared: Shared
    ) -> EventLoopFuture<Void> {
        let bootstrap = ClientBootstrap(group: client.eventLoop).channelInitializer { server in
            server.pipeline.addHandler(Relay(from: .server, to: client, shared))
        }
        return target.connect(bootstrap).flatMap { server in
            client.pipeline.addHandler(Relay(from: .client, to: server, shared)).flatMap {
                client.setOption(.autoRead, value: true)
            }
        }
    }

    /// Where the server listens.
    private enum Target: Sendable {
        case network(host: String, port: Int)
        case local(path: String)

        init(_ url: String) throws {
            let keywords = try ConnectionKeywords.parse(url)
            let port = keywords["port"].flatMap { Int($0) } ?? 5432
            let host = keywords["hostaddr"] ?? keywords["host"] ?? "/var/run/postgresql"
            self = host.hasPrefix("/") ? .local(path: "\(host)/.s.PGSQL.\(port)") : .network(host: host, port: port)
        }

        func connect(_ bootstrap: ClientBootstrap) -> EventLoopFuture<any Channel> {
            switch self {
            case .network(let host, let port): bootstrap.connect(host: host, port: port)
            case .local(let path): bootstrap.connect(unixDomainSocketPath: path)
            }
        }
    }
}

/// Passes bytes on, and the end with them.
private final class Relay: ChannelInboundHandler, Sendable {
    package typealias InboundIn = ByteBuffer

    private let side: CuttableProxy.Side
    private let peer: any Channel
    private let shared: CuttableProxy.Shared

    init(from side: CuttableProxy.Side, to peer: any Channel, _ shared: CuttableProxy.Shared) {
        (self.side, self.peer, self.shared) = (side, peer, shared)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        shared.pass(unwrapInboundIn(data), from: side, to: peer)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        peer.close(promise: nil)
        context.fireChannelInactive()
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
