// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import TestTools
import Testing
import Verification

@testable import Providers

/// Tests how connections are opened, reused and authenticated.
@Suite(.serialized, .timeLimit(.minutes(1))) struct `A connection to a provider` {
    private static func gateway(
        _ url: String,
        _ options: ConnectionOptions?,
        _ client: ProviderClient
    ) throws
        -> GatewayProvider
    {
        let configuration = GatewayConfiguration(
            name: "main",
            url: try GatewayTemplate(url),
            body: try GatewayTemplate(#"{"to": "{to}", "text": "{text}"}"#),
            connection: options
        )
        return GatewayProvider(configuration: configuration, client: client)
    }

    private static func with(
        _ url: String,
        _ options: ConnectionOptions? = nil,
        greatestAge: TimeAmount = .minutes(5),
        body: (GatewayProvider) async throws -> Void
    ) async throws {
        let client = ProviderClient(maximumConnections: 8, greatestAge: greatestAge)
        do {
            try await body(try gateway(url, options, client))
        } catch {
            Issue.record(error)
        }
        await client.shutdown()
    }

    private static func send(_ provider: GatewayProvider) async throws -> ProviderAnswer {
        await provider.send(try message())
    }

    private static let accepted = ProviderAnswer(.accepted)

    // MARK: Age and failures

    /// The answer arrives and the deadline passes while the loop's thread stands still, as in a frozen process.
    @Test func `is read before the deadline of its call, if both came while the process was frozen`() async throws {
        let groups = (1...2).map { _ in MultiThreadedEventLoopGroup(numberOfThreads: 1) }
        let client = ProviderClient(on: groups[0], maximumConnections: 1)
        do {
            try await ScriptedServer.with([.later(created), .silence], on: groups[1]) { server in
                let provider = try Self.gateway(server.url, nil, client)
                async let frozen = provider.send(try message(within: .seconds(1)))
                try await eventually("the call arrives") { server.seen.requests.count == 1 }
                await Task(executorPreference: client.executor) { Self.standStill(.seconds(3)) }.value
                #expect(try await frozen.outcome == .accepted)
                // A deadline without an answer still ends a call.
                let silent = await provider.send(try message(within: .seconds(1)))
                #expect(silent == ProviderAnswer(.unknown, errorCode: "timeout"))
            }
        } catch {
            Issue.record(error)
        }
        await client.shutdown()
        for group in groups { try await group.shutdownGracefully() }
    }

    private static func standStill(_ time: Duration) {
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end { usleep(1000) }
    }

    @Test func `is not used beyond its greatest age`() async throws {
        try await ScriptedServer.with([created]) { server in
            try await Self.with(server.url, greatestAge: .nanoseconds(1)) { provider in
                for _ in 0..<3 {
                    let answer = try await Self.send(provider)
                    #expect(answer == Self.accepted)
                }
            }
            #expect(server.seen.connections == 3)
        }
    }

    @Test func `is given up when another one to the same provider fails`() async throws {
        try await ScriptedServer.with([.silence, created]) { server in
            try await Self.with(server.url) { provider in
                async let silent = provider.send(try message(within: .seconds(8)))
                try await eventually("the first call arrives") { server.seen.requests.count == 1 }
                #expect(try await Self.send(provider) == Self.accepted)
                #expect(server.seen.connections == 2)
                #expect(try await silent.outcome == .unknown)
                // An idle connection would otherwise stay open for 15 s.
                try await eventually("both are closed", within: .seconds(12)) { server.seen.closedConnections == 2 }
                #expect(try await Self.send(provider) == Self.accepted)
                #expect(server.seen.connections == 3)
            }
        }
    }

    @Test func `is given up after an answer that the server is in trouble`() async throws {
        try await ScriptedServer.with([answer("503 No", ""), created]) { server in
            try await Self.with(server.url) { provider in
                #expect(try await Self.send(provider).outcome == .unknown)
                try await eventually("it is closed", within: .seconds(12)) { server.seen.closedConnections == 1 }
                #expect(try await Self.send(provider) == Self.accepted)
            }
        }
    }

    @Test func `looks its name up again when one has failed`() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let lookups = NIOLockedValueBox(0)
        let resolver = NameResolver(loop: loop, freshness: .minutes(10)) { host, port in
            lookups.withLockedValue { $0 += 1 }
            return [try SocketAddress(ipAddress: "127.0.0.1", port: port)]
        }
        for expected in 1...2 {
            _ = try await resolver.initiateAQuery(host: "provider.example", port: 1).get()
            _ = try await resolver.initiateAQuery(host: "provider.example", port: 1).get()
            #expect(lookups.withLockedValue { $0 } == expected)
            resolver.doubt("provider.example", 1)
        }
    }

    // MARK: Trust

    @Test func `trusts the authorities of its file, which is read again when it changes`() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).pem").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        // The file holds an authority that did not sign the server's certificate.
        try Self.otherAuthority.write(toFile: path, atomically: true, encoding: .utf8)
        try await ScriptedServer.with([created], tls: try selfSignedContext()) { server in
            let options = ConnectionOptions(authorities: path)
            let url = "https://localhost:\(server.port)"
            try await Self.with(url, options, greatestAge: .nanoseconds(1)) { provider in
                let refused = try await Self.send(provider)
                #expect(refused == ProviderAnswer(.notSent, errorCode: "tls_failed"))
                try SelfSigned.certificate.write(toFile: path, atomically: true, encoding: .utf8)
                #expect(try await Self.send(provider) == Self.accepted)
                // An empty file, as while it is being written, leaves the previous authorities in use.
                try "".write(toFile: path, atomically: true, encoding: .utf8)
                #expect(try await Self.send(provider) == Self.accepted)
                // A directory in its place also leaves the previous authorities in use.
                try FileManager.default.removeItem(atPath: path)
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
                #expect(try await Self.send(provider) == Self.accepted)
            }
        }
    }

    @Test func `proves who we are by a certificate`() async throws {
        let pem = Secret("\(SelfSigned.certificate)\n\(SelfSigned.privateKey)\n")
        let identity = try #require(ClientIdentity(certificate: pem, key: nil))
        #expect("\(identity) \(String(reflecting: identity))".contains("PRIVATE") == false)
        #expect(ClientIdentity(certificate: Secret(SelfSigned.certificate), key: nil) == nil)
        #expect(ClientIdentity(certificate: Secret(SelfSigned.privateKey), key: pem) == nil)
        try await withAuthorityFile { path in
            try await ScriptedServer.with([created], tls: try askingContext()) { server in
                let url = "https://localhost:\(server.port)"
                try await Self.with(url, ConnectionOptions(authorities: path, identity: identity)) { provider in
                    let answer = try await Self.send(provider)
                    #expect(answer == Self.accepted)
                }
                try await Self.with(url, ConnectionOptions(authorities: path)) { provider in
                    let answer = try await Self.send(provider)
                    #expect(answer == ProviderAnswer(.notSent, errorCode: "tls_refused"))
                }
            }
        }
    }

    @Test func `leaves nothing of a certificate that has been replaced`() async throws {
        let pem = Secret("\(SelfSigned.certificate)\n\(SelfSigned.privateKey)\n")
        let client = ProviderClient(maximumConnections: 8, greatestAge: .nanoseconds(1))
        try await withAuthorityFile { path in
            try await ScriptedServer.with([created], tls: try askingContext()) { server in
                for _ in 0..<20 {
                    // A changed file creates a new identity, so each round makes one.
                    let identity = try #require(ClientIdentity(certificate: pem, key: nil))
                    let options = ConnectionOptions(authorities: path, identity: identity)
                    let provider = try Self.gateway("https://localhost:\(server.port)", options, client)
                    #expect(try await Self.send(provider).outcome == .accepted)
                }
                try await eventually("the others are gone") {
                    let held = await client.held()
                    return try held == (1, 1) && openConnections(to: server.port) <= 1
                }
            }
        }
        await client.shutdown()
    }

    // MARK: Proxies

    @Test func `names the whole address to a proxy where there is no TLS`() async throws {
        try await ScriptedServer.with([created]) { proxy in
            let address = try #require(ProxyAddress("http://user:p%40ss@127.0.0.1:\(proxy.port)"))
            #expect(!"\(address) \(String(reflecting: address))".contains("p@ss"))
            try await Self.with("http://provider.invalid/send?v=2", ConnectionOptions(proxy: address)) { provider in
                let answer = try await Self.send(provider)
                #expect(answer == Self.accepted)
            }
            let request = try #require(proxy.seen.requests.first)
            #expect(request.head.hasPrefix("POST http://provider.invalid/send?v=2 HTTP/1.1\r\n"))
            #expect(request.header("host") == "provider.invalid")
            #expect(request.header("proxy-authorization") == "Basic dXNlcjpwQHNz")
        }
    }

    @Test func `speaks TLS with the provider through a tunnel`() async throws {
        try await withAuthorityFile { path in
            try await ScriptedServer.with([created], tls: try selfSignedContext()) { server in
                try await TunnelServer.with(to: server.port) { tunnel in
                    let proxy = try #require(ProxyAddress("http://127.0.0.1:\(tunnel.port)"))
                    let options = ConnectionOptions(authorities: path, proxy: proxy)
                    try await Self.with("https://localhost:\(server.port)", options) { provider in
                        let answer = try await Self.send(provider)
                        #expect(answer == Self.accepted)
                        let again = try await Self.send(provider)
                        #expect(again == Self.accepted)
                    }
                    let head = "CONNECT localhost:\(server.port) HTTP/1.1\r\nHost: localhost:\(server.port)\r\n\r\n"
                    #expect(tunnel.requests == [head])
                }
                #expect(server.seen.requests.count == 2)
            }
        }
    }

    @Test(arguments: ["HTTP/1.1 407 Login\r\n\r\n", "nonsense\r\n\r\n"])
    func `sends nothing through a proxy that refuses`(words: String) async throws {
        try await ScriptedServer.with([.answer(words)]) { proxy in
            let address = try #require(ProxyAddress("http://127.0.0.1:\(proxy.port)"))
            try await Self.with("https://provider.invalid", ConnectionOptions(proxy: address)) { provider in
                let answer = try await Self.send(provider)
                #expect(answer == ProviderAnswer(.notSent, errorCode: "proxy_refused"))
                try await eventually("the connection is closed") { proxy.seen.closedConnections == 1 }
            }
            #expect(proxy.seen.requests.count == 1)
        }
    }

    @Test func `leaves no connection to a proxy that says nothing`() async throws {
        try await ScriptedServer.with([.silence]) { proxy in
            let address = try #require(ProxyAddress("http://127.0.0.1:\(proxy.port)"))
            try await Self.with("https://provider.invalid", ConnectionOptions(proxy: address)) { provider in
                let answer = await provider.send(try message(within: .milliseconds(300)))
                #expect(answer == ProviderAnswer(.notSent, errorCode: "timeout"))
                try await eventually("the connection is closed") { proxy.seen.closedConnections == 1 }
            }
        }
    }

    @Test(
        arguments: [
            ("error:10000412:SSL routines:OPENSSL_internal:SSLV3_ALERT_BAD_CERTIFICATE at a.cc:1", true),
            ("TLSV1_ALERT_CERTIFICATE_REQUIRED", true), ("TLSV1_ALERT_UNKNOWN_CA at tls.cc:592", true),
            ("TLSV1_ALERT_ACCESS_DENIED", true), ("SSLV3_ALERT_HANDSHAKE_FAILURE", true),
            ("TLSV1_ALERT_INTERNAL_ERROR", false), ("SSLV3_ALERT_UNEXPECTED_MESSAGE", false),
            ("SSLV3_ALERT_CLOSE_NOTIFY", false), ("CERTIFICATE_VERIFY_FAILED", false), ("", false),
        ]
    )
    func `knows the alerts after which no request was read`(description: String, isProof: Bool) {
        #expect(TLSAlert.isOfHandshake(description) == isProof)
    }

    @Test(arguments: ["", "proxy.example", "https://proxy.example", "http://", "socks5://proxy.example:1080"])
    func `goes through no other kind of proxy`(text: String) {
        #expect(ProxyAddress(text) == nil)
    }

    private static let otherAuthority = """
        -----BEGIN CERTIFICATE-----
        MIIBhzCCAS2gAwIBAgIUf1BTYjjPGeb+/uNODEzJ/sDIpywwCgYIKoZIzj0EAwIw
        GDEWMBQGA1UEAwwNb3RoZXIuZXhhbXBsZTAgFw0yNjExMjYwNDIwMDNaGA8yMTI2
        MTEwMjA0MjAwM1owGDEWMBQGA1UEAwwNb3RoZXIuZXhhbXBsZTBZMBMGByqGSM49
        AgEGCCqGSM49AwEHA0IABO9+RPXHxmt4hErXZtcBiVjLohy/Ya1TprnO6VxsuLX4
        I/qgoCR7JK9PVCdBJ0EYhVlcy0LE5jhHD0g10Reb/RejUzBRMB0GA1UdDgQWBBSu
        r4YKa/kopS31yY1t/zb+fZWhITAfBgNVHSMEGDAWgBSur4YKa/kopS31yY1t/zb+
        fZWhITAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCID9XeBfzqCUP
        Fduf+3b2sdm9jEuHMElFPwYkwmW1gTUkAiEAib9upCMHBfIQ5gsybtNnpAqAJy34
        qmX8cUZLA+XfX+c=
        -----END CERTIFICATE-----
        """
}

private func withAuthorityFile(_ body: (String) async throws -> Void) async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).pem").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try SelfSigned.certificate.write(toFile: path, atomically: true, encoding: .utf8)
    try await body(path)
}

/// TLS settings of a server that accepts only clients with the server's own certificate.
private func askingContext() throws -> NIOSSLContext {
    let key = try NIOSSLPrivateKey(bytes: Array(SelfSigned.privateKey.utf8), format: .pem)
    let chain = try NIOSSLCertificate.fromPEMBytes(Array(SelfSigned.certificate.utf8))
    var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: chain.map { .certificate($0) },
        privateKey: .privateKey(key)
    )
    configuration.certificateVerification = .noHostnameVerification
    configuration.trustRoots = .certificates(chain)
    return try NIOSSLContext(configuration: configuration)
}
