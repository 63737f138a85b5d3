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

        /// It has its answer, and what came with the answer's end is not looked through yet.
        case answered
        case closed

        var activity: Activity {
            switch self {
            case .opening: .opening
            case .calling: .calling
            case .idle, .answered, .closed: .idling
            }
        }
    }

    /// What it was busy with when it closed.
    enum Activity {
        case opening
        case calling
        case idling
    }

    /// From then on it takes no call: behind a name the addresses change, and so do the certificates.
    private let oldAt: NIODeadline

    /// Whether it has had a call: until then it is as new as any other one would be.
    private(set) var hasServed = false

    /// Those of one time in the life of its pool.
    var generation = 0

    private var phase: Phase
    private var context: ChannelHandlerContext?

    /// From the connection on, which is before this handler is added: a proxy and TLS come first.
    private var channel: (any Channel)?

    /// How long it may be idle after the answer that is being read; nil when it takes no other call.
    private var idleTime: TimeAmount?
    private let isSecure: Bool
    private let onIdle: (ProviderConnection) -> Void
    private let onClose: (ProviderConnection, TransportFailure, Activity) -> Void

    /// `onIdle` is told when the connection takes a call, and `onClose` once, when it takes none any more.
    init(
        isSecure: Bool,
        openUntil limit: NIODeadline,
        oldAt: NIODeadline,
        onIdle: @escaping (ProviderConnection) -> Void,
        onClose: @escaping (ProviderConnection, TransportFailure, Activity) -> Void
    ) {
        self.isSecure = isSecure
        self.oldAt = oldAt
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
        case .opening(let limit): limit <= moment
        case .idle(let limit): min(limit, oldAt) <= moment
        case .calling(let call): call.deadline <= moment
        case .answered, .closed: false
        }
    }

    /// Writes a call's request, whole.
    func run(_ call: ProviderCall) {
        guard let context, isIdle else { return call.fail(.connectionClosed) }
        phase = .calling(call)
        hasServed = true
        call.depart(on: self)
        context.writeAndFlush(wrapOutboundOut(call.request), promise: nil)
    }

    func close(_ failure: TransportFailure = .connectionClosed) {
        end(failure)
        // Without the handler, while a proxy is asked, only the channel itself can be closed.
        if let context { context.close(promise: nil) } else { channel?.close(promise: nil) }
        channel = nil
    }

    /// Takes the channel that has been connected; one that comes too late is closed.
    func connected(_ channel: any Channel) {
        if case .closed = phase { return channel.close(promise: nil) }
        self.channel = channel
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
            // A server in trouble may be one that others have taken the place of.
            idleTime = head.status.code < 500 ? head.idleTime(upTo: Self.longestIdleTime) : nil
            if !call.receive(head) { close(.answerTooLarge) }
        case .body(var part):
            if !call.receive(&part) { close(.answerTooLarge) }
        case .end:
            phase = .answered
            call.finish()
            if idleTime == nil { close() }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if case .answered = phase, let idleTime { becomeIdle(for: idleTime) }
        context.fireChannelReadComplete()
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
        onClose(self, failure, last.activity)
    }
}
