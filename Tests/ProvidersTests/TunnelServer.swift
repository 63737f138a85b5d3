// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// An HTTP proxy on 127.0.0.1 that tunnels every request to one port, whatever target it names.
final class TunnelServer: Sendable {
    let port: Int
    private let heads: NIOLockedValueBox<[String]>

    /// The heads of the requests, in order.
    var requests: [String] { heads.withLockedValue { $0 } }

    private init(port: Int, heads: NIOLockedValueBox<[String]>) {
        (self.port, self.heads) = (port, heads)
    }

    static func with(to target: Int, body: (TunnelServer) async throws -> Void) async throws {
        let heads = NIOLockedValueBox<[String]>([])
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Mouth(target: target, heads: heads))
                }
            }
            .withLocalPort { port in try await body(TunnelServer(port: port, heads: heads)) }
    }

    /// The client's side of a tunnel, which opens the connection to the server.
    private final class Mouth: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let target: Int
        private let heads: NIOLockedValueBox<[String]>
        private var head = ""
        private var far: (any Channel)?

        init(target: Int, heads: NIOLockedValueBox<[String]>) {
            (self.target, self.heads) = (target, heads)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            if let far { return far.writeAndFlush(bytes, promise: nil) }
            head += String(buffer: bytes)
            guard head.hasSuffix("\r\n\r\n") else { return }
            heads.withLockedValue { [head] in $0.append(head) }
            let near = context.channel
            let mouth = NIOLoopBound(self, eventLoop: context.eventLoop)
            ClientBootstrap(group: context.eventLoop)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Return(near: near))
                    }
                }
                .connect(host: "127.0.0.1", port: target)
                .whenSuccess { far in
                    mouth.value.far = far
                    near.writeAndFlush(ByteBuffer(string: "HTTP/1.1 200 Connection established\r\n\r\n"), promise: nil)
                }
        }

        func channelInactive(context: ChannelHandlerContext) {
            far?.close(promise: nil)
        }
    }

    private final class Return: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let near: any Channel

        init(near: any Channel) {
            self.near = near
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            near.writeAndFlush(unwrapInboundIn(data), promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            near.close(promise: nil)
        }
    }
}
