// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The points of a session at which a server can misbehave.
enum MailMoment: String, Sendable, CaseIterable {
    case greeting
    case hello
    case startTLS
    case sender
    case recipient
    case data

    /// After the final dot.
    case content
    case quit
}

/// The server's behaviour at a moment.
enum MailStep: Sendable, Hashable {
    case say(String)
    case close
    case reset
    case silence

    /// Replies, and then reads no more.
    case stall(String)
}

/// The connections and commands that the server received.
struct MailRecord: Sendable {
    /// Number of messages that ended with the final dot.
    var bodies = 0
    var connections = 0

    /// The commands that carry an address.
    var commands: [String] = []
    var closedConnections = 0
}

/// A mail server on 127.0.0.1, without TLS, that misbehaves as scripted.
final class ScriptedMailServer: Sendable {
    let port: Int
    private let record: NIOLockedValueBox<MailRecord>

    var seen: MailRecord { record.withLockedValue { $0 } }

    private init(port: Int, record: NIOLockedValueBox<MailRecord>) {
        self.port = port
        self.record = record
    }

    static func with<Value>(
        _ script: [MailMoment: MailStep],
        body: (ScriptedMailServer) async throws -> Value
    ) async throws -> Value {
        let record = NIOLockedValueBox(MailRecord())
        return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(MailHandler(script: script, record: record))
                }
            }
            .withLocalPort { port in try await body(ScriptedMailServer(port: port, record: record)) }
    }
}

private final class MailHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let usual: [MailMoment: String] = [
        .greeting: "220 ready", .hello: "250-here\r\n250 SIZE 1000000", .startTLS: "502 no", .sender: "250 yes",
        .recipient: "250 yes", .data: "354 go on", .content: "250 taken", .quit: "221 bye",
    ]

    private let script: [MailMoment: MailStep]
    private let record: NIOLockedValueBox<MailRecord>
    private var received: [UInt8] = []
    private var readsContent = false

    init(script: [MailMoment: MailStep], record: NIOLockedValueBox<MailRecord>) {
        self.script = script
        self.record = record
    }

    func channelActive(context: ChannelHandlerContext) {
        record.withLockedValue { $0.connections += 1 }
        perform(.greeting, context: context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        record.withLockedValue { $0.closedConnections += 1 }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += unwrapInboundIn(data).readableBytesView
        while let line = nextLine() {
            if readsContent {
                guard line == ".\r\n" else { continue }
                readsContent = false
                record.withLockedValue { $0.bodies += 1 }
                perform(.content, context: context)
            } else {
                command(line, context: context)
            }
        }
    }

    private func nextLine() -> String? {
        guard let end = received.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        let line = String(decoding: received[...end], as: UTF8.self)
        received.removeSubrange(...end)
        return line
    }

    private func command(_ line: String, context: ChannelHandlerContext) {
        let moments: [(String, MailMoment)] = [
            ("EHLO", .hello), ("HELO", .hello), ("STARTTLS", .startTLS), ("MAIL", .sender), ("RCPT", .recipient),
            ("DATA", .data), ("QUIT", .quit),
        ]
        guard let moment = moments.first(where: { line.hasPrefix($0.0) })?.1 else { return }
        if [.sender, .recipient].contains(moment) {
            record.withLockedValue { $0.commands.append(String(line.dropLast())) }
        }
        perform(moment, context: context)
    }

    private func perform(_ moment: MailMoment, context: ChannelHandlerContext) {
        switch script[moment] ?? .say(Self.usual[moment] ?? "") {
        case .say(let text):
            readsContent = moment == .data && text.hasPrefix("354")
            write(text, context: context)
            if moment == .quit { context.close(promise: nil) }
        case .stall(let text):
            context.channel.setOption(.autoRead, value: false).assumeIsolated().whenSuccess {
                self.write(text, context: context)
            }
        case .close: context.close(promise: nil)
        case .reset: context.channel.reset()
        case .silence: break
        }
    }

    private func write(_ text: String, context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text + "\r\n")), promise: nil)
    }
}
