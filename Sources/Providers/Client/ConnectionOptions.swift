// SPDX-License-Identifier: Apache-2.0

import Formats
import NIOSSL
package import Verification

/// Options of the connections to one provider: authorities, client identity, proxy.
///
/// Each instance has its own connections: two providers at one address may use two certificates.
package final class ConnectionOptions: Sendable {
    /// The path of a PEM file with the trusted authorities; nil for those of the system.
    package let authorities: String?
    package let identity: ClientIdentity?
    package let proxy: ProxyAddress?

    /// Creates options; nil when all are default, so that the connections are shared.
    package init?(authorities: String? = nil, identity: ClientIdentity? = nil, proxy: ProxyAddress? = nil) {
        guard authorities != nil || identity != nil || proxy != nil else { return nil }
        (self.authorities, self.identity, self.proxy) = (authorities, identity, proxy)
    }
}

/// Compares by identity.
extension ConnectionOptions: Hashable {
    package static func == (left: ConnectionOptions, right: ConnectionOptions) -> Bool { left === right }
    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A client certificate (mutual TLS) and its private key.
package struct ClientIdentity: Sendable, Redacted {
    let chain: [NIOSSLCertificateSource]
    let key: NIOSSLPrivateKeySource

    /// Parses PEM texts; nil where certificate or key is missing.
    ///
    /// Both may be in the same text.
    package init?(certificate: Secret, key: Secret?) {
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(Array(certificate.revealed.utf8)), !chain.isEmpty,
            let key = try? NIOSSLPrivateKey(bytes: Array((key ?? certificate).revealed.utf8), format: .pem)
        else { return nil }
        self.chain = chain.map { .certificate($0) }
        self.key = .privateKey(key)
    }

    package var description: String { "<client certificate>" }
}

/// An HTTP proxy that calls go through: `http://user:password@proxy.example.com:3128`.
package struct ProxyAddress: Sendable, Redacted {
    package let host: String
    package let port: Int

    /// The value of the header `Proxy-Authorization`; nil for a proxy without a login.
    let authorization: String?

    /// Parses an address; nil for any other scheme.
    package init?(_ text: String) {
        let scheme = "http://"
        guard text.lowercased().hasPrefix(scheme) else { return nil }
        let rest = text.dropFirst(scheme.count).prefix { $0 != "/" }
        let at = rest.lastIndex(of: "@")
        let authority = at.map { rest[rest.index(after: $0)...] } ?? rest
        guard let target = Target("\(scheme)\(authority)") else { return nil }
        (host, port) = (target.origin.host, target.origin.port)
        guard let at else {
            authorization = nil
            return
        }
        let login = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            .map(Self.decoded)
        authorization = ProviderRequest.basicAuth(username: login[0], password: login.count > 1 ? login[1] : "")
    }

    package var description: String { "\(host):\(port)" }

    /// The text with each `%XX` decoded.
    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let decoded = UInt8(digits, radix: 16) {
                bytes.append(decoded)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

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
