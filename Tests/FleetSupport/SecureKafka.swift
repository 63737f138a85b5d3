// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import NIOSSL
import Synchronization
import TestTools

/// A front before a Kafka of one broker that speaks TLS, and asks for a name and a password if it is given one.
///
/// Neither librdkafka's own cluster nor the broker of the tests speaks TLS. The front ends it, and puts its own port in
/// the place of the broker's wherever an answer names the broker. It asks by SASL/PLAIN as the brokers of Kafka 0.10 did.
package final class SecureKafka: Sendable {
    /// What a client has to say of itself.
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

    /// Lends a front to the broker at `bootstrapServers`, which is an address of this machine.
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

/// Messages of the Kafka protocol, each with its length before it.
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

/// Passes messages on, and the end with them.
private final class FrameRelay: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let peer: any Channel
    private let port: Int?
    private var login: SecureKafka.Login?

    /// From the broker, whose address is replaced.
    init(to peer: any Channel, replacing port: Int) {
        self.peer = peer
        self.port = port
    }

    /// From a client, which has to say who it is first.
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

    /// A broker as an answer names it: the host, and the port as four bytes.
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

    /// What is said to a client that has not said who it is; nil when it is not the one that is wanted.
    private func answer(_ frame: ByteBuffer, _ login: SecureKafka.Login) -> ByteBuffer? {
        if Array(frame.readableBytesView.dropFirst(4)) == login.plain {
            self.login = nil
            return ByteBuffer(bytes: [0, 0, 0, 0])
        }
        // Every request: its kind, its version and its number, behind the length.
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
            // ApiVersions: version 0 alone, and of the kinds of requests those that a client cannot do without.
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
    /// RFC 4616, without an identity to act for.
    fileprivate var plain: [UInt8] { [0] + Array(user.utf8) + [0] + Array(password.utf8) }
}
