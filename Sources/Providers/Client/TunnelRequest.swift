// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Opens a tunnel to a provider through a proxy, before any byte goes to the provider (RFC 9110, section 9.3.6).
///
/// The handler is added to a connected channel and removes itself when the proxy has agreed.
final class TunnelRequest: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The proxy refused, or sent no valid answer.
    struct Refused: Error {}

    private static let longestAnswer = 16 * 1024

    private let request: String
    private var promise: EventLoopPromise<Void>?
    private var received = ByteBuffer()

    init(to origin: Target.Origin, through proxy: ProxyAddress, _ promise: EventLoopPromise<Void>) {
        let host = origin.host.contains(":") ? "[\(origin.host)]" : origin.host
        let authority = "\(host):\(origin.port)"
        let login = proxy.authorization.map { "Proxy-Authorization: \($0)\r\n" } ?? ""
        request = "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\(login)\r\n"
        self.promise = promise
    }

    func handlerAdded(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        received.writeBuffer(&part)
        let text = String(buffer: received)
        guard text.contains("\r\n\r\n") || text.contains("\n\n") else {
            if received.readableBytes > Self.longestAnswer { end(.failure(Refused())) }
            return
        }
        let words = text.prefix { !$0.isNewline }.split(separator: " ")
        let isGranted = words.count > 1 && words[0].hasPrefix("HTTP/1.") && words[1].count == 3 && words[1].first == "2"
        guard isGranted else { return end(.failure(Refused())) }
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
        end(.success(()))
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.failure(Refused()))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(.failure(error))
    }

    private func end(_ result: Result<Void, any Error>) {
        promise?.completeWith(result)
        promise = nil
    }
}
