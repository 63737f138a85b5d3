// SPDX-License-Identifier: Apache-2.0

import NIOSSL

extension TLSConfiguration {
    /// The TLS configuration for providers: TLS 1.2 or later (RFC 8996), trusting the system's or the given
    /// authorities.
    ///
    /// Certificates and names are fully verified, which is NIOSSL's default for clients.
    static func forProviders(trusting authorities: NIOSSLTrustRoots? = nil) -> TLSConfiguration {
        var configuration = makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let authorities { configuration.trustRoots = authorities }
        return configuration
    }
}
