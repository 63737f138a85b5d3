// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// Detects that a client has closed its connection.
///
/// The server allows half-closed connections, so a client that has closed is otherwise noticed only by a failed write,
/// and never while an answer is withheld.
final class HangUpWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = Any

    private var hangUp: EventLoopPromise<Void>?

    func handlerAdded(context: ChannelHandlerContext) {
        hangUp = context.eventLoop.makePromise()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .some(.inputClosed) = event as? ChannelEvent { hangUp?.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        hangUp?.succeed()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        hangUp?.succeed()
    }

    /// Completes when the client closes its half of the connection, or the connection ends.
    static func hangUp(on channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.flatSubmit {
            let watch = try? channel.pipeline.syncOperations.handler(type: HangUpWatch.self)
            // Without a handler the connection has ended already.
            return watch?.hangUp?.futureResult ?? channel.eventLoop.makeSucceededVoidFuture()
        }
    }
}

@available(*, unavailable)
extension HangUpWatch: Sendable {}
