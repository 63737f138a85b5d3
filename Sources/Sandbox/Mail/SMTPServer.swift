// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import ServiceLifecycle

/// A mail server that accepts every mail and delivers it to the inbox.
struct SMTPServer: Sendable {
    typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>
    typealias Listener = NIOAsyncChannel<Connection, Never>

    /// The maximum number of connected clients; further ones wait.
    static let capacity = 256

    let intake: MailIntake
    let credentials: SMTPCredentials?
    /// The idle timeout of a client (RFC 5321 4.5.3.2 demands five minutes).
    let timeout: Duration

    /// Binds the port; connections are served only by `serve`.
    static func bind(host: String, port: Int, timeout: Duration) async throws -> Listener {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let idle = IdleStateHandler(readTimeout: TimeAmount(timeout))
                    try channel.pipeline.syncOperations.addHandlers(idle, IdleClose())
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
    }

    /// Serves until the task is cancelled or a graceful shutdown begins.
    func serve(_ listener: Listener) async throws {
        let serving = { @Sendable in
            try await listener.executeThenClose { clients in
                try await withThrowingDiscardingTaskGroup { group in
                    for try await client in clients { group.addTask { await converse(client) } }
                }
            }
        }
        do {
            try await cancelWhenGracefulShutdown(serving)
        } catch is CancellationError {
            return
        }
    }

    /// Runs one client's session; an error ends only this connection.
    private func converse(_ client: Connection) async {
        let port = client.channel.remoteAddress?.port
        try? await client.executeThenClose { inbound, outbound in
            var conversation = Conversation(
                session: SMTPSession(credentials: credentials),
                intake: intake,
                remotePort: port
            )
            try await outbound.write(ByteBuffer(string: SMTPSession.greeting.text))
            for try await bytes in inbound {
                conversation.session.receive(bytes.readableBytesView)
                while let event = conversation.session.next() {
                    let (reply, isLast) = try await conversation.answer(event, on: client.channel)
                    if let reply { try await outbound.write(ByteBuffer(string: reply.text)) }
                    if isLast { return }
                }
            }
        }
    }
}

/// A session with the fault of its current mail.
private struct Conversation {
    var session: SMTPSession
    let intake: MailIntake
    let remotePort: Int?
    /// The fault of the mail that is being received.
    private var fault: Fault?

    init(session: SMTPSession, intake: MailIntake, remotePort: Int?) {
        self.session = session
        self.intake = intake
        self.remotePort = remotePort
    }

    /// The reply to an event, and true when the session is over; without a reply the connection is cut.
    mutating func answer(
        _ event: SMTPSession.Event,
        on channel: any Channel
    ) async throws -> (reply: SMTPSession.Reply?, isLast: Bool) {
        switch event {
        case .reply(let reply):
            if session.envelope?.recipients.isEmpty ?? true { fault = nil }
            return (reply, false)
        case .end(let reply):
            return (reply, true)
        case .recipient(let address):
            let fault = intake.faults.take(to: address, from: .smtp)
            if let refusal = fault.flatMap({ MailIntake.recipientRefusal(for: $0) }) { return (refusal, false) }
            self.fault = self.fault ?? fault
            return (session.accept(address), false)
        case .message(let envelope, let bytes):
            defer { fault = nil }
            return try await intake.take(bytes, envelope, fault: fault, remotePort: remotePort, on: channel)
        }
    }
}

/// Closes an idle connection.
private final class IdleClose: ChannelInboundHandler {
    typealias InboundIn = Any

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }
}

@available(*, unavailable)
extension IdleClose: Sendable {}
