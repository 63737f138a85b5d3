// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOTLS

/// One HTTP/1.1 connection with one call at a time, so that a broken connection leaves only one outcome unknown.
///
/// The handler is added to a connected channel.
final class ProviderConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = ByteBuffer

    /// Idle connections are closed well before load balancers close theirs (60 s and more), because a request written
    /// into a closing connection has an unknown outcome.
    private static let longestIdleTime = TimeAmount.seconds(15)

    private enum Phase {
        /// Connecting, or in the TLS handshake.
        case opening(until: NIODeadline)
        case idle(until: NIODeadline)
        case calling(ProviderCall)

        /// The answer is complete, but the bytes after it in the same read are not checked yet.
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

    /// The connection's activity when it closed.
    enum Activity {
        case opening
        case calling
        case idling
    }

    /// The time after which it takes no more calls: the addresses behind a name and certificates change.
    private let oldAt: NIODeadline

    /// True after its first call; until then it counts as a new connection.
    private(set) var hasServed = false

    /// The pool's generation when it was opened; see `ConnectionPool.generation`.
    var generation = 0

    private var phase: Phase
    private var context: ChannelHandlerContext?

    /// Set when TCP is connected, before this handler is added, since proxy and TLS come first.
    private var channel: (any Channel)?

    /// The permitted idle time after the answer being read; nil when the connection takes no further call.
    private var idleTime: TimeAmount?
    private let isSecure: Bool
    private let onIdle: (ProviderConnection) -> Void
    private let onClose: (ProviderConnection, TransportFailure, Activity) -> Void

    /// Creates a connection.
    ///
    /// `onIdle` is called when it can take a call, and `onClose` once, when it closes.
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

    /// True when the time limit of its phase (opening, idle or call) has passed.
    func isOver(at moment: NIODeadline) -> Bool {
        switch phase {
        case .opening(let limit): limit <= moment
        case .idle(let limit): min(limit, oldAt) <= moment
        case .calling(let call): call.deadline <= moment
        case .answered, .closed: false
        }
    }

    /// Writes the whole request of a call.
    func run(_ call: ProviderCall) {
        guard let context, isIdle else { return call.fail(.connectionClosed) }
        phase = .calling(call)
        hasServed = true
        call.depart(on: self)
        context.writeAndFlush(wrapOutboundOut(call.request), promise: nil)
    }

    func close(_ failure: TransportFailure = .connectionClosed) {
        end(failure)
        // The handler is missing while the proxy opens the tunnel: then only the channel can be closed.
        if let context { context.close(promise: nil) } else { channel?.close(promise: nil) }
        channel = nil
    }

    /// Stores the connected channel, or closes it when the connection has already ended.
    func connected(_ channel: any Channel) {
        if case .closed = phase { return channel.close(promise: nil) }
        self.channel = channel
    }

    // MARK: - Channel events

    /// Called when the channel is already connected.
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
            // The decoder drops 1xx statuses except 101, an upgrade that was not requested.
            guard head.status.code != 101 else { return close(.malformedAnswer) }
            // After a 5xx the connection is not reused: the server may have been replaced behind its name.
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

extension HTTPResponseHead {
    /// The time for which the connection may be idle and still take a request, at most `longest`; nil when it takes
    /// none.
    ///
    /// Many servers close an idle connection after five seconds, and announce it: `Keep-Alive: timeout=5`. The
    /// connection is closed a second earlier, because a request written into a closing connection has an unknown
    /// outcome.
    func idleTime(upTo longest: TimeAmount) -> TimeAmount? {
        guard isKeepAlive else { return nil }
        guard let seconds = headers.first(name: "Keep-Alive").flatMap(Self.timeout) else { return longest }
        return seconds > 1 ? min(longest, TimeAmount.seconds(seconds - 1)) : nil
    }

    /// Parses the seconds of `timeout=5, max=100`.
    private static func timeout(_ text: String) -> Int64? {
        let parameters = text.lowercased().filter { $0 != " " && $0 != "\"" }.split(separator: ",")
        return parameters.first { $0.hasPrefix("timeout=") }.flatMap { Int64($0.dropFirst("timeout=".count)) }
    }
}
