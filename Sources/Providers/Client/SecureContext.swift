// SPDX-License-Identifier: Apache-2.0

import NIOSSL

/// The TLS context of the connections that share it; used only on its client's event loop.
///
/// It is rebuilt when the file of authorities has changed, so that a new authority applies without a restart. While the
/// file cannot be read, the authorities read before stay in force.
final class SecureContext {
    private let options: ConnectionOptions?
    private let authorities: NIOSSLTrustRoots?
    private var context: NIOSSLContext?
    private var stamp: FileStamp?

    /// Creates a context; `authorities` replace those of the system.
    init(_ options: ConnectionOptions?, trusting authorities: NIOSSLTrustRoots?) {
        self.options = options
        self.authorities = options?.authorities.map { .file($0) } ?? authorities
    }

    /// The current TLS context; nil until usable authorities have been read.
    func current() -> NIOSSLContext? {
        let now = FileStamp(ofAuthorities: options?.authorities)
        if let context, now == nil || now == stamp { return context }
        var configuration = TLSConfiguration.forProviders(trusting: authorities)
        if let identity = options?.identity {
            configuration.certificateChain = identity.chain
            configuration.privateKey = identity.key
        }
        if let made = try? NIOSSLContext(configuration: configuration) {
            context = made
            stamp = now
        }
        return context
    }
}
