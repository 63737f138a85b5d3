// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP2

/// Tells the streams of an HTTP/2 connection that a GOAWAY leaves out from those that end for any other reason.
///
/// The peer surely did nothing with a stream above the last one that its GOAWAY names (RFC 9113, section 6.8). NIO ends
/// such a stream like one that was cancelled, so the frame is remembered here, and the stream's error becomes that of a
/// refused stream.
final class GoAwayWatch: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    /// Nil before a GOAWAY; a later one may only lower it.
    private(set) var lastStreamID: HTTP2StreamID?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .goAway(let last, _, _) = unwrapInboundIn(data).payload {
            lastStreamID = min(last, lastStreamID ?? last)
        }
        context.fireChannelRead(data)
    }

    /// Watches a connection.
    @Sendable static func watchConnection(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit { try channel.pipeline.syncOperations.addHandler(GoAwayWatch()) }
    }

    /// Watches a stream of such a connection.
    @Sendable static func watchStream(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.submit { try channel.pipeline.syncOperations.addHandler(LeftOutStream(), position: .first) }
    }
}

/// The errors of one stream on their way to its reader.
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
