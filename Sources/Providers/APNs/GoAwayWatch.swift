// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP2

/// Marks the streams of an HTTP/2 connection that a GOAWAY of the peer left unprocessed.
final class GoAwayWatch: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    /// The last stream of the most recent GOAWAY, nil before the first; a later frame may only lower it.
    private(set) var lastStreamID: HTTP2StreamID?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .goAway(let last, _, _) = unwrapInboundIn(data).payload {
            lastStreamID = min(last, lastStreamID ?? last)
        }
        context.fireChannelRead(data)
    }

    /// Installs the handler on a connection.
    @Sendable static func watchConnection(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit { try channel.pipeline.syncOperations.addHandler(GoAwayWatch()) }
    }

    /// Installs the handler on a stream of a connection that has one.
    @Sendable static func watchStream(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit { try channel.pipeline.syncOperations.addHandler(LeftOutStream(), position: .first) }
    }
}

/// Replaces the errors of one stream before its reader gets them.
private final class LeftOutStream: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let closed = error as? NIOHTTP2Errors.StreamClosed, closed.errorCode == .cancel,
            let watch = try? context.channel.parent?.pipeline.syncOperations.handler(type: GoAwayWatch.self),
            let last = watch.lastStreamID, closed.streamID > last
        else { return context.fireErrorCaught(error) }
        context.fireErrorCaught(NIOHTTP2Errors.streamClosed(streamID: closed.streamID, errorCode: .refusedStream))
    }
}
