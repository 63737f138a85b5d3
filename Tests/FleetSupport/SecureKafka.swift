// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import TestTools

/// A TLS proxy in front of a Kafka with one broker, which can require a user and a password.
///
/// Neither librdkafka's mock cluster nor the tests' broker supports TLS. The proxy ends TLS, and replaces the broker's
/// port by its own in every answer. It authenticates by SASL/PLAIN in the form of Kafka 0.10.
package final class SecureKafka: Sendable {
    /// The credentials that a client must send.
    package struct Login: Sendable {
        package let user: String
        package let password: String

        package init(user: String, password: String) {
            (self.user, self.password) = (user, password)
        }
    }

    package let bootstrapServers: String
    private let listener: any Channel

    private init(listener: any Channel) {
        self.listener = listener
        bootstrapServers = "127.0.0.1:\(listener.localAddress?.port ?? 0)"
    }

    package struct Failure: Error {}

    /// Runs a proxy for the broker at `bootstrapServers`, an address of this machine, during the body.
    package static func with<Result>(
        to bootstrapServers: String,
        authority: TestAuthority,
        login: Login? = nil,
        _ body: (SecureKafka) async throws -> Result
    ) async throws -> Result {
        let parts = bootstrapServers.split(separator: ":")
        guard parts.count == 2, let port = Int(parts[1]) else { throw Failure() }
        let tls = try context(authority)
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { client in
                connect(client, to: port, tls, login)
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let front = SecureKafka(listener: listener)
        return try await doing {
            try await body(front)
        } afterwards: {
            try await listener.close()
        }
    }

    private static func context(_ authority: TestAuthority) throws -> NIOSSLContext {
        let certificate = try NIOSSLCertificate(bytes: Array(authority.serverCertificate.utf8), format: .pem)
        let key = try NIOSSLPrivateKey(bytes: Array(authority.serverKey.utf8), format: .pem)
        return try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: [.certificate(certificate)],
                privateKey: .privateKey(key)
            )
        )
    }

    private static func connect(
        _ client: any Channel,
        to port: Int,
        _ tls: NIOSSLContext,
        _ login: Login?
    ) -> EventLoopFuture<Void> {
        let bootstrap = ClientBootstrap(group: client.eventLoop).channelInitializer { broker in
            broker.eventLoop.makeCompletedFuture {
                try broker.pipeline.syncOperations.addHandlers(
                    ByteToMessageHandler(KafkaFrames()),
                    FrameRelay(to: client, replacing: port)
                )
            }
        }
        return bootstrap.connect(host: "127.0.0.1", port: port).flatMapThrowing { broker in
            try client.pipeline.syncOperations.addHandlers(
                NIOSSLServerHandler(context: tls),
                ByteToMessageHandler(KafkaFrames()),
                FrameRelay(to: broker, login: login)
            )
        }.flatMap { client.setOption(.autoRead, value: true) }
    }
}

/// Splits the Kafka protocol into messages, each with its length in front.
private struct KafkaFrames: ByteToMessageDecoder {
    typealias InboundOut = ByteBuffer

    mutating func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        guard let length = buffer.getInteger(at: buffer.readerIndex, as: Int32.self), length >= 0,
            let frame = buffer.readSlice(length: 4 + Int(length))
        else { return .needMoreData }
        context.fireChannelRead(wrapInboundOut(frame))
        return .continue
    }
}

/// Relays messages and the end of the connection.
private final class FrameRelay: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let peer: any Channel
    private let port: Int?
    private var login: SecureKafka.Login?

    /// Relays messages from the broker, with its address replaced.
    init(to peer: any Channel, replacing port: Int) {
        self.peer = peer
        self.port = port
    }

    /// Relays messages from a client once it has authenticated.
    init(to peer: any Channel, login: SecureKafka.Login?) {
        self.peer = peer
        self.login = login
        port = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var frame = unwrapInboundIn(data)
        if let login {
            guard let answer = answer(frame, login) else { return context.close(promise: nil) }
            context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
            return
        }
        if let port, let own = peer.localAddress?.port { replace(address(port), by: address(own), in: &frame) }
        peer.writeAndFlush(frame, promise: nil)
    }

    /// A broker's address as in an answer: the host, and the port in four bytes.
    private func address(_ port: Int) -> [UInt8] {
        Array("127.0.0.1".utf8) + (0..<4).map { UInt8(truncatingIfNeeded: port >> (24 - 8 * $0)) }
    }

    private func replace(_ old: [UInt8], by new: [UInt8], in frame: inout ByteBuffer) {
        var bytes = Array(frame.readableBytesView)
        guard bytes.count >= old.count else { return }
        for start in 0...(bytes.count - old.count) where bytes[start...].starts(with: old) {
            bytes.replaceSubrange(start..<start + old.count, with: new)
        }
        frame = ByteBuffer(bytes: bytes)
    }

    /// The answer to a client that has not authenticated yet; nil for wrong credentials.
    private func answer(_ frame: ByteBuffer, _ login: SecureKafka.Login) -> ByteBuffer? {
        if Array(frame.readableBytesView.dropFirst(4)) == login.plain {
            self.login = nil
            return ByteBuffer(bytes: [0, 0, 0, 0])
        }
        // After its length, every request has its kind, its version and its number.
        guard let kind = frame.getInteger(at: frame.readerIndex + 4, as: Int16.self),
            let version = frame.getInteger(at: frame.readerIndex + 6, as: Int16.self),
            let number = frame.getInteger(at: frame.readerIndex + 8, as: Int32.self)
        else { return nil }
        switch kind {
        case 17:
            // SaslHandshake: no error, and one mechanism.
            return answer(number, 0) { body in
                body.writeInteger(Int32(1))
                body.writeInteger(Int16(5))
                body.writeString("PLAIN")
            }
        case 18:
            // ApiVersions: only version 0, and only the kinds of requests that a client requires.
            let kinds: [(Int16, Int16)] = [(0, 7), (1, 11), (2, 5), (3, 2), (17, 0), (18, 0)]
            return answer(number, version == 0 ? 0 : 35) { body in
                body.writeInteger(Int32(kinds.count))
                for (kind, newest) in kinds { body.writeMultipleIntegers(kind, Int16(0), newest) }
            }
        default:
            return nil
        }
    }

    private func answer(_ number: Int32, _ error: Int16, _ write: (inout ByteBuffer) -> Void) -> ByteBuffer {
        var body = ByteBuffer()
        body.writeInteger(number)
        body.writeInteger(error)
        write(&body)
        var frame = ByteBuffer(integer: Int32(body.readableBytes))
        frame.writeBuffer(&body)
        return frame
    }

    func channelInactive(context: ChannelHandlerContext) {
        peer.close(promise: nil)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

extension SecureKafka.Login {
    /// The credentials by RFC 4616, without an authorization identity.
    fileprivate var plain: [UInt8] { [0] + Array(user.utf8) + [0] + Array(password.utf8) }
}
