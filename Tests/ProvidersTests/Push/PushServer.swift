// SPDX-License-Identifier: Apache-2.0

import NIOConcurrencyHelpers
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import TestTools

/// A push that was received by HTTP/2.
struct ReceivedPush: Sendable {
    var headers: [String: String] = [:]
    var body = ""

    /// The provider token, without the word `bearer`.
    var token: String { String((headers["authorization"] ?? "").dropFirst("bearer ".count)) }
}

/// The server's response to one push.
enum PushStep: Sendable {
    /// Answers a status with one of Apple's reasons.
    case refuse(Int, String, headers: [(String, String)] = [])
    case accept

    /// Answers a status with any body.
    case say(Int, String)

    case reset(HTTP2ErrorCode)

    /// Sends GOAWAY, which announces the end of the connection.
    ///
    /// With `isLeftOut` this stream counts as unprocessed; otherwise this push is accepted, and later ones are not.
    case goAway(isLeftOut: Bool)

    /// Resets this stream, and then sends GOAWAY.
    case resetAndGoAway

    case close
    case silence
}

/// The pushes and connections that the server received.
struct PushRecord: Sendable {
    /// Each push with a complete body, in order.
    var pushes: [ReceivedPush] = []
    var connections = 0
}

/// A server on 127.0.0.1 that speaks only HTTP/2 over TLS, with a certificate for `localhost`.
final class PushServer: Sendable {
    typealias Script = @Sendable (_ push: ReceivedPush, _ index: Int) -> PushStep

    let port: Int
    private let record: NIOLockedValueBox<PushRecord>

    var seen: PushRecord { record.withLockedValue { $0 } }
    var url: String { "https://localhost:\(port)" }

    private init(port: Int, record: NIOLockedValueBox<PushRecord>) {
        self.port = port
        self.record = record
    }

    /// Responds to each push with the same step.
    static func always(_ step: PushStep) -> Script {
        { _, _ in step }
    }

    static func with<Value>(
        _ script: @escaping Script,
        body: (PushServer) async throws -> Value
    ) async throws -> Value {
        let record = NIOLockedValueBox(PushRecord())
        let tls = try context()
        return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    record.withLockedValue { $0.connections += 1 }
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                    _ = try channel.pipeline.syncOperations.configureHTTP2Pipeline(
                        mode: .server,
                        connectionConfiguration: .init(),
                        streamConfiguration: .init()
                    ) { stream in
                        stream.eventLoop.makeCompletedFuture {
                            let handler = PushStream(script: script, record: record)
                            try stream.pipeline.syncOperations.addHandler(handler)
                        }
                    }
                }
            }
            .withLocalPort { port in try await body(PushServer(port: port, record: record)) }
    }

    private static func context() throws -> NIOSSLContext {
        let certificate = try NIOSSLCertificate(bytes: Array(SelfSigned.certificate.utf8), format: .pem)
        let key = try NIOSSLPrivateKey(bytes: Array(SelfSigned.privateKey.utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificate)],
            privateKey: .privateKey(key)
        )
        configuration.applicationProtocols = ["h2"]
        return try NIOSSLContext(configuration: configuration)
    }
}

/// Handles one stream, which carries one push.
private final class PushStream: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let script: PushServer.Script
    private let record: NIOLockedValueBox<PushRecord>
    private var push = ReceivedPush()

    init(script: @escaping PushServer.Script, record: NIOLockedValueBox<PushRecord>) {
        self.script = script
        self.record = record
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .headers(let headers):
            for (name, value, _) in headers.headers { push.headers[name] = value }
        case .data(let data):
            if case .byteBuffer(let bytes) = data.data { push.body += String(buffer: bytes) }
            guard data.endStream else { return }
            let push = push
            let index = record.withLockedValue { record in
                record.pushes.append(push)
                return record.pushes.count - 1
            }
            perform(script(push, index), context: context)
        default: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func perform(_ step: PushStep, context: ChannelHandlerContext) {
        switch step {
        case .accept: answer(200, [("apns-id", push.headers["apns-id"]?.uppercased() ?? "")], "", context: context)
        case .refuse(let status, let reason, let headers):
            answer(status, headers, #"{"reason":"\#(reason)"}"#, context: context)
        case .say(let status, let body): answer(status, [], body, context: context)
        case .reset(let code): context.writeAndFlush(wrapOutboundOut(.rstStream(code)), promise: nil)
        case .goAway(let isLeftOut):
            goAway(after: isLeftOut ? .rootStream : .maxID, context: context)
            if !isLeftOut { perform(.accept, context: context) }
        case .resetAndGoAway:
            perform(.reset(.cancel), context: context)
            goAway(after: .maxID, context: context)
        case .close: context.channel.parent?.close(promise: nil)
        case .silence: break
        }
    }

    private func goAway(after last: HTTP2StreamID, context: ChannelHandlerContext) {
        let payload = HTTP2Frame.FramePayload.goAway(
            lastStreamID: last,
            errorCode: .noError,
            opaqueData: ByteBuffer(string: #"{"reason":"Shutdown"}"#)
        )
        context.channel.parent?.writeAndFlush(HTTP2Frame(streamID: .rootStream, payload: payload), promise: nil)
    }

    private func answer(_ status: Int, _ more: [(String, String)], _ body: String, context: ChannelHandlerContext) {
        let headers = HPACKHeaders([(":status", "\(status)")] + more)
        context.write(wrapOutboundOut(.headers(.init(headers: headers, endStream: body.isEmpty))), promise: nil)
        if !body.isEmpty {
            let data = IOData.byteBuffer(ByteBuffer(string: body))
            context.write(wrapOutboundOut(.data(.init(data: data, endStream: true))), promise: nil)
        }
        context.flush()
    }
}
