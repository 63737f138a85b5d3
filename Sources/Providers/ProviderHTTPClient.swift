// SPDX-License-Identifier: Apache-2.0

package import AsyncHTTPClient
import NIOCore

/// The HTTP client that all providers share; its owner shuts it down after the last call.
///
/// - No redirects and no proxy: a message goes to the configured host or nowhere.
/// - HTTP/1.1: one call a connection, so that a cut connection leaves one outcome in doubt and not a hundred.
/// - Connections are not tried again: a failed one surely sent nothing, and the pipeline has a next provider at
///   hand. AsyncHTTPClient's own retry would hold every call for the whole connection timeout first.
/// - Idle connections are dropped long before load balancers drop theirs (60 s and more), because a request written
///   into a closing connection has an unknown outcome.
/// - Certificates and host names are fully verified, which is NIOSSL's default for clients.
package func makeProviderHTTPClient(maximumConnections: Int) -> HTTPClient {
    var configuration = HTTPClient.Configuration(
        redirectConfiguration: .disallow,
        timeout: HTTPClient.Configuration.Timeout(connect: .seconds(3)),
        connectionPool: HTTPClient.Configuration.ConnectionPool(
            idleTimeout: .seconds(15),
            concurrentHTTP1ConnectionsPerHostSoftLimit: max(1, maximumConnections)
        ),
        proxy: nil,
        decompression: .disabled
    )
    configuration.httpVersion = .http1Only
    configuration.connectionPool.retryConnectionEstablishment = false
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
}
