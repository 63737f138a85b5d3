// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import Synchronization

@testable import PostgresClient

/// A TCP proxy before the test server, which can go away and come back.
package final class CuttableProxy: Sendable {
    private struct State {
        var isAway = false
        var clients: [any Channel] = []
    }

    package let url: String
    private let listener: any Channel
    private let state: Shared

    /// What the proxy's connections share with it.
    private final class Shared: Sendable {
        let state = Mutex(State())
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
                return connect(client, to: target)
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

    private static func connect(_ client: any Channel, to target: Target) -> EventLoopFuture<Void> {
        let bootstrap = ClientBootstrap(group: client.eventLoop).channelInitializer { server in
            server.pipeline.addHandler(Relay(to: client))
        }
        return target.connect(bootstrap).flatMap { server in
            client.pipeline.addHandler(Relay(to: server)).flatMap {
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

    private let peer: any Channel

    package init(to peer: any Channel) {
        self.peer = peer
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        peer.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        peer.close(promise: nil)
        context.fireChannelInactive()
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
