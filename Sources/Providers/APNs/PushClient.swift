// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Glibc
import NIOCore
import NIOPosix
import NIOSSL

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
