// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOTLS

/// One HTTP/1.1 connection: one call at a time, so that a cut connection leaves one outcome in doubt and not a hundred.
///
/// It is added to a channel that has been connected.
final class ProviderConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = ByteBuffer

    /// Idle connections are dropped long before load balancers drop theirs (60 s and more), because a request written
    /// into a closing connection has an unknown outcome.
    private static let longestIdleTime = TimeAmount.seconds(15)

    private enum Phase {
        /// Connecting, or shaking hands.
        case opening(until: NIODeadline)
        case idle(until: NIODeadline)
        case calling(ProviderCall)
        case closed

        var isOpening: Bool {
            if case .opening = self { true } else { false }
        }
    }

    private var phase: Phase
    private var context: ChannelHandlerContext?

    /// How long it may be idle after the answer that is being read; nil when it takes no other call.
    private var idleTime: TimeAmount?
    private let isSecure: Bool
    private let onIdle: (ProviderConnection) -> Void
    private let onClose: (ProviderConnection, TransportFailure, _ wasOpening: Bool) -> Void

    /// `onIdle` is told when the connection takes a call, and `onClose` once, when it takes none any more; `wasOpening`
    /// when it never took one.
    init(
        isSecure: Bool,
        openUntil limit: NIODeadline,
        onIdle: @escaping (ProviderConnection) -> Void,
        onClose: @escaping (ProviderConnection, TransportFailure, _ wasOpening: Bool) -> Void
    ) {
        self.isSecure = isSecure
        phase = .opening(until: limit)
        self.onIdle = onIdle
        self.onClose = onClose
    }

    var isIdle: Bool {
        if case .idle = phase { true } else { false }
    }

    /// Whether the time to open it, to be idle, or of the call that it is on, is over.
    func isOver(at moment: NIODeadline) -> Bool {
        switch phase {
        case .opening(let limit), .idle(let limit): limit <= moment
        case .calling(let call): call.deadline <= moment
        case .closed: false
        }
    }

    /// Writes a call's request, whole.
    func run(_ call: ProviderCall) {
        guard let context, isIdle else { return call.fail(.connectionClosed) }
        phase = .calling(call)
        call.depart(on: self)
        context.writeAndFlush(wrapOutboundOut(call.request), promise: nil)
    }

    func close(_ failure: TransportFailure = .connectionClosed) {
        end(failure)
        context?.close(promise: nil)
    }

    // MARK: - What the channel says

    /// The channel is connected by now.
    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if case .closed = phase { return context.close(promise: nil) }
        if !isSecure { becomeIdle(for: Self.longestIdleTime) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event { becomeIdle(for: Self.longestIdleTime) }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .calling(let call) = phase else { return close() }
        switch unwrapInboundIn(data) {
        case .head(let head):
            // Of the statuses before the final one (1xx), only this one comes here, which nobody asked for.
            guard head.status.code != 101 else { return close(.malformedAnswer) }
            idleTime = head.idleTime(upTo: Self.longestIdleTime)
            if !call.receive(head) { close(.answerTooLarge) }
        case .body(var part):
            if !call.receive(&part) { close(.answerTooLarge) }
        case .end:
            call.finish()
            if let idleTime { becomeIdle(for: idleTime) } else { close() }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.connectionClosed)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        close(TransportFailure(error))
    }

    private func becomeIdle(for time: TimeAmount) {
        if case .closed = phase { return }
        phase = .idle(until: NIODeadline.now() + time)
        onIdle(self)
    }

    private func end(_ failure: TransportFailure) {
        let last = phase
        if case .closed = last { return }
        phase = .closed
        if case .calling(let call) = last { call.fail(failure) }
        onClose(self, failure, last.isOpening)
    }
}
