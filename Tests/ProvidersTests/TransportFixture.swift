// SPDX-License-Identifier: Apache-2.0

import Formats
import NIOCore
import NIOPosix
import NIOSSL
import TestTools
import Testing

/// Runs `body` with a listener whose backlog is full, so that the kernel drops further connection attempts.
///
/// When `body` turns on reading, it accepts connections and closes each one at its first bytes.
func withBlackHole(_ body: (Int, any Channel) async throws -> Void) async throws {
    let group = MultiThreadedEventLoopGroup.singleton
    let listener = try await ServerBootstrap(group: group)
        .serverChannelOption(.backlog, value: 1)
        .serverChannelOption(.autoRead, value: false)
        .childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(EndsWithFirstBytes())
            }
        }
        .bind(host: "127.0.0.1", port: 0)
        .get()
    let port = listener.localAddress?.port ?? 0
    var fillers: [any Channel] = []
    // A single attempt may time out because the machine is busy; three in a row mean that the backlog is full.
    var failures = 0
    while failures < 3, fillers.count < 16 {
        let attempt = ClientBootstrap(group: group).connectTimeout(.milliseconds(200))
        if let filler = try? await attempt.connect(host: "127.0.0.1", port: port).get() {
            fillers.append(filler)
            failures = 0
        } else {
            failures += 1
        }
    }
    #expect(fillers.count < 16, "the queue never fills")
    do {
        try await body(port, listener)
    } catch {
        Issue.record(error)
    }
    for filler in fillers { try? await filler.close().get() }
    try await listener.close().get()
}

private final class EndsWithFirstBytes: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.close(promise: nil)
    }
}

/// TLS settings of a server with a self-signed certificate for `localhost`.
func selfSignedContext(upTo version: TLSVersion? = nil) throws -> NIOSSLContext {
    let key = try NIOSSLPrivateKey(bytes: Array(SelfSigned.privateKey.utf8), format: .pem)
    var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: [.certificate(try selfSignedCertificate())],
        privateKey: .privateKey(key)
    )
    configuration.maximumTLSVersion = version
    return try NIOSSLContext(configuration: configuration)
}

/// The authorities of a client that trusts that certificate.
func selfSignedAuthorities() throws -> NIOSSLTrustRoots {
    .certificates([try selfSignedCertificate()])
}

private func selfSignedCertificate() throws -> NIOSSLCertificate {
    try NIOSSLCertificate(bytes: Array(SelfSigned.certificate.utf8), format: .pem)
}
