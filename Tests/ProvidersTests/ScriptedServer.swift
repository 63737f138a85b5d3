// SPDX-License-Identifier: Apache-2.0

import Formats
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL

/// The server's response to one request.
enum ServerStep: Sendable {
    /// Writes these bytes and keeps the connection open.
    case answer(String)

    /// Reads the whole body, and performs the step half a second later.
    indirect case later(ServerStep)

    /// Writes these bytes, which need not be UTF-8, and keeps the connection open.
    case bytes([UInt8])

    /// Writes these bytes and closes its side of the connection; the client must close the other side.
    case answerAndFinish(String)

    /// Closes a connection at once, whatever has arrived by then.
    case closeOnConnect

    /// Reads the whole body, then ends the connection with FIN.
    case closeAfterBody

    /// Reads the whole body, then ends the connection with RST.
    case resetAfterBody

    /// Reads the whole body and never answers.
    case silence

    /// Writes these bytes, then one byte every 20 ms without end.
    case drip(String)

    /// Writes these bytes, then chunks of a body without end, as fast as the client reads.
    case endless(String)
}

/// The requests and connections that the server received.
struct ServerRecord: Sendable {
    /// Each request with a complete body, in order.
    var requests: [ReceivedRequest] = []
    var connections = 0
    var closedConnections = 0
    var bytesWritten = 0
}

struct ReceivedRequest: Sendable {
    let head: String
    let body: String

    /// The value of a header; `name` must be in lower case.
    func header(_ name: String) -> String? {
        for line in head.split(separator: "\r\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == name else { continue }
            return String(parts[1].drop(while: { $0 == " " }))
        }
        return nil
    }
}

/// A TCP server on 127.0.0.1 that counts complete request bodies and follows a script, one step per request.
///
/// The last step repeats.
final class ScriptedServer: Sendable {
    let port: Int
    private let record: NIOLockedValueBox<ServerRecord>

    var seen: ServerRecord { record.withLockedValue { $0 } }
    var url: String { "http://127.0.0.1:\(port)" }

    private init(port: Int, record: NIOLockedValueBox<ServerRecord>) {
        self.port = port
        self.record = record
    }

    static func with<Value>(
        _ script: [ServerStep],
        tls: NIOSSLContext? = nil,
        on group: MultiThreadedEventLoopGroup = .singleton,
        body: (ScriptedServer) async throws -> Value
    ) async throws -> Value {
        let record = NIOLockedValueBox(ServerRecord())
        return try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 64)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                    }
                    try channel.pipeline.syncOperations.addHandler(ScriptHandler(script: script, record: record))
                }
            }
            .withLocalPort { port in try await body(ScriptedServer(port: port, record: record)) }
    }
}

/// Reads requests from one connection and performs their steps.
private final class ScriptHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let blank = "\r\n\r\n"

    /// Delay before an answer.
    ///
    /// Without it, on one machine, an answer could arrive before the end of its request was written, and close the
    /// connection.
    private static let roundTrip = TimeAmount.milliseconds(10)

    private let script: [ServerStep]
    private let record: NIOLockedValueBox<ServerRecord>
    private var received = ""

    init(script: [ServerStep], record: NIOLockedValueBox<ServerRecord>) {
        self.script = script
        self.record = record
    }

    func channelActive(context: ChannelHandlerContext) {
        record.withLockedValue { $0.connections += 1 }
        if case .closeOnConnect = script[0] { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        record.withLockedValue { $0.closedConnections += 1 }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        guard let request = nextRequest() else { return }
        let index = record.withLockedValue { record in
            record.requests.append(request)
            return record.requests.count - 1
        }
        perform(script[min(index, script.count - 1)], context: context)
    }

    /// Removes a complete request from the received bytes.
    private func nextRequest() -> ReceivedRequest? {
        let bytes = Array(received.utf8)
        let blank = Array(Self.blank.utf8)
        guard bytes.count >= 4 else { return nil }
        guard let end = (0...bytes.count - 4).first(where: { Array(bytes[$0..<$0 + 4]) == blank }) else { return nil }
        let head = String(decoding: bytes[..<end], as: UTF8.self)
        let length = ReceivedRequest(head: head, body: "").header("content-length").flatMap { Int($0) } ?? 0
        let bodyEnd = end + 4 + length
        guard bytes.count >= bodyEnd else { return nil }
        received = String(decoding: bytes[bodyEnd...], as: UTF8.self)
        return ReceivedRequest(head: head, body: String(decoding: bytes[(end + 4)..<bodyEnd], as: UTF8.self))
    }

    private func perform(_ step: ServerStep, context: ChannelHandlerContext) {
        switch step {
        case .answer(let text):
            let channel = context.channel
            channel.eventLoop.scheduleTask(in: Self.roundTrip) {
                channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
            }
        case .later(let step):
            context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(500)) {
                self.perform(step, context: context)
            }
        case .answerAndFinish(let text):
            let channel = context.channel
            channel.eventLoop.scheduleTask(in: Self.roundTrip) {
                channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
                channel.close(mode: .output, promise: nil)
            }
        case .bytes(let bytes):
            let channel = context.channel
            channel.eventLoop.scheduleTask(in: Self.roundTrip) {
                channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
            }
        case .silence, .closeOnConnect:
            break
        case .closeAfterBody:
            context.close(promise: nil)
        case .resetAfterBody:
            context.channel.reset()
        case .drip(let text):
            write(text, context: context)
            drip(on: context.channel)
        case .endless(let text):
            write(text, context: context)
            let chunk = "4000\r\n" + String(repeating: "x", count: 0x4000) + "\r\n"
            pour(ByteBuffer(string: chunk), on: context.channel)
        }
    }

    private func write(_ text: String, context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }

    private func drip(on channel: any Channel) {
        channel.eventLoop.scheduleRepeatedTask(initialDelay: .milliseconds(20), delay: .milliseconds(20)) { task in
            guard channel.isActive else { return task.cancel() }
            channel.writeAndFlush(ByteBuffer(string: "x"), promise: nil)
        }
    }

    private func pour(_ chunk: ByteBuffer, on channel: any Channel) {
        let record = record
        let written = channel.writeAndFlush(chunk)
        written.assumeIsolated().whenSuccess {
            record.withLockedValue { $0.bytesWritten += chunk.readableBytes }
            // Yields to the event loop between two chunks, so that it can process the close of the connection.
            channel.eventLoop.assumeIsolated().execute { self.pour(chunk, on: channel) }
        }
    }
}
