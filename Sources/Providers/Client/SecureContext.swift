// SPDX-License-Identifier: Apache-2.0

import NIOSSL

/// How TLS is spoken with the connections that share it; used on its client's event loop only.
///
/// It is made anew when the file of its authorities has changed, so that a new authority counts without a restart. While
/// the file cannot be read, what was read before holds.
final class SecureContext {
    private let options: ConnectionOptions?
    private let authorities: NIOSSLTrustRoots?
    private var context: NIOSSLContext?
    private var stamp: FileStamp?

    /// `authorities` stand for those of the system.
    init(_ options: ConnectionOptions?, trusting authorities: NIOSSLTrustRoots?) {
        self.options = options
        self.authorities = options?.authorities.map { .file($0) } ?? authorities
    }

    /// Nil while no usable authorities were ever read.
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
