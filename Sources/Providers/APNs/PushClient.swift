// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// An HTTP/2 client for one team, closed when its owner is released.
///
/// Apple accepts the tokens of one team only on a connection, so two teams must not share a client. As for the other
/// providers, there are no redirects, no proxy but the configured one, and no retries of a connection.
final class PushClient: Sendable {
    let http: HTTPClient

    /// Creates a client that trusts `authorities`, or those of the system.
    init(trusting authorities: NIOSSLTrustRoots?, proxy: ProxyAddress? = nil) {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: TLSConfiguration.forProviders(trusting: authorities),
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: .seconds(3)),
            connectionPool: HTTPClient.Configuration.ConnectionPool(
                // Apple's documentation demands long-lived connections and treats frequent new ones as an attack.
                idleTimeout: .minutes(5),
                concurrentHTTP1ConnectionsPerHostSoftLimit: 1
            ),
            proxy: proxy?.forHTTPClient,
            decompression: .disabled
        )
        configuration.httpVersion = .automatic
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.http2ConnectionDebugInitializer = { channel in
            Self.limitUnacknowledgedTime(channel).flatMap { GoAwayWatch.watchConnection(channel) }
        }
        configuration.http2StreamChannelDebugInitializer = GoAwayWatch.watchStream
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit {
        // No call is in progress, since each holds the owner; nothing waits for the sockets to close.
        let _: EventLoopFuture<Void> = http.shutdown()
    }

    /// Makes the kernel drop a connection whose peer has acknowledged nothing for ten seconds.
    ///
    /// A connection that died silently would otherwise swallow every push for some fifteen minutes.
    @Sendable private static func limitUnacknowledgedTime(_ channel: any Channel) -> EventLoopFuture<Void> {
        let option = NIOBSDSocket.Option(rawValue: TCP_USER_TIMEOUT)
        return channel.setOption(.tcpOption(option), value: 10_000)
    }
}

extension ProxyAddress {
    fileprivate var forHTTPClient: HTTPClient.Configuration.Proxy {
        guard let login = authorization?.split(separator: " ").last else { return .server(host: host, port: port) }
        return .server(host: host, port: port, authorization: .basic(credentials: String(login)))
    }
}

/// Holds the client of a team, and replaces it when it is old or its file of authorities has changed.
///
/// The addresses behind Apple's names change, so a client has a maximum age. Apple demands long-lived connections and
/// treats frequent new ones as an attack, so they live longer than those of other providers. While the file cannot be
/// read, the authorities read before stay in force.
final class PushClients: Sendable {
    private struct Current {
        let client: PushClient
        let since: ContinuousClock.Instant
        let stamp: FileStamp?
    }

    private let authorities: String?
    private let proxy: ProxyAddress?
    private let greatestAge: Duration
    private let state = Mutex<Current?>(nil)

    /// Creates clients that trust the authorities of a PEM file, or those of the system.
    init(authorities: String?, proxy: ProxyAddress?, greatestAge: Duration) {
        self.authorities = authorities
        self.proxy = proxy
        self.greatestAge = greatestAge
    }

    /// The client for a call that begins now; a replaced client lives until its last call ends.
    func current() -> PushClient {
        let stamp = FileStamp(ofAuthorities: authorities)
        return state.withLock { state in
            if let held = state, held.since + greatestAge > .now, stamp == nil || stamp == held.stamp {
                return held.client
            }
            let certificates = authorities.map { (try? NIOSSLCertificate.fromPEMFile($0)) ?? [] }
            if let held = state, certificates?.isEmpty == true { return held.client }
            // With an empty list the client trusts no server.
            let client = PushClient(trusting: certificates.map { .certificates($0) }, proxy: proxy)
            state = Current(client: client, since: .now, stamp: stamp)
            return client
        }
    }
}
