// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import PostgresClient
import Synchronization

/// One direction of a connection through a proxy, which relays bytes and the end of the connection.
final class Relay: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer

    /// The state that both directions share.
    private final class Link: Sendable {
        let harm = Mutex<CuttableProxy.Harm?>(nil)
        let listener: CuttableProxy.Listener

        init(_ listener: @escaping CuttableProxy.Listener) {
            self.listener = listener
        }
    }

    private let side: CuttableProxy.Side
    private let peer: any Channel
    private let link: Link
    private let shared: CuttableProxy.Shared

    private init(from side: CuttableProxy.Side, to peer: any Channel, _ link: Link, _ shared: CuttableProxy.Shared) {
        (self.side, self.peer, self.link, self.shared) = (side, peer, link, shared)
    }

    /// Connects a client with the server, and then starts to read from the client.
    static func connect(
        _ client: any Channel,
        to target: ProxyTarget,
        _ shared: CuttableProxy.Shared,
        listener: @escaping CuttableProxy.Listener
    ) -> EventLoopFuture<Void> {
        let link = Link(listener)
        let bootstrap = ClientBootstrap(group: client.eventLoop).channelInitializer { server in
            server.pipeline.addHandler(Relay(from: .server, to: client, link, shared))
        }
        return target.connect(bootstrap).flatMap { server in
            client.pipeline.addHandler(Relay(from: .client, to: server, link, shared)).flatMap {
                client.setOption(.autoRead, value: true)
            }
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        let harm = link.harm.withLock { harm in
            if harm == nil, side == .client { harm = link.listener(Array(bytes.readableBytesView)) }
            return harm
        }
        switch (harm, side) {
        case (nil, _), (.swallowAnswer, .client): shared.pass(bytes, from: side, to: peer)
        case (.swallowAnswer, .server), (.swallowRequest, _): context.close(promise: nil)
        case (.fallSilent, _): break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        peer.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

/// The address of the server behind a proxy.
enum ProxyTarget: Sendable {
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
