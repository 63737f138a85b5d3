// SPDX-License-Identifier: Apache-2.0

import NIOSSL

extension TLSConfiguration {
    /// How providers are spoken to: with TLS 1.2 at least (RFC 8996), trusting the system's authorities or those given.
    ///
    /// Certificates and names are fully verified, which is NIOSSL's default for clients.
    static func forProviders(trusting authorities: NIOSSLTrustRoots? = nil) -> TLSConfiguration {
        var configuration = makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let authorities { configuration.trustRoots = authorities }
        return configuration
    }
}
