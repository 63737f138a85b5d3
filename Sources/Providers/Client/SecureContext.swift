// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOSSL

/// How TLS is spoken with the connections that share it; used on its client's event loop only.
///
/// It is made anew when the file of its authorities has changed, so that a new authority counts without a restart. While
/// the file cannot be read, what was read before holds.
final class SecureContext {
    /// What tells one content of a file from another.
    private struct Stamp: Equatable {
        let device: UInt
        let number: UInt
        let size: Int
        let seconds: Int
        let nanoseconds: Int
    }

    private let options: ConnectionOptions?
    private let authorities: NIOSSLTrustRoots?
    private var context: NIOSSLContext?
    private var stamp: Stamp?

    /// `authorities` stand for those of the system.
    init(_ options: ConnectionOptions?, trusting authorities: NIOSSLTrustRoots?) {
        self.options = options
        self.authorities = options?.authorities.map { .file($0) } ?? authorities
    }

    /// Nil while no usable authorities were ever read.
    func current() -> NIOSSLContext? {
        let now = Self.stamp(of: options?.authorities ?? SystemAuthorities.path)
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

    private static func stamp(of path: String?) -> Stamp? {
        var info = stat()
        guard let path, stat(path, &info) == 0 else { return nil }
        return Stamp(
            device: UInt(info.st_dev),
            number: UInt(info.st_ino),
            size: Int(info.st_size),
            seconds: info.st_mtim.tv_sec,
            nanoseconds: info.st_mtim.tv_nsec
        )
    }
}

/// The system's certificate authorities.
package enum SystemAuthorities {
    /// Where distributions keep them, in the order in which NIOSSL looks.
    private static let places = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]

    /// Their file; nil where there is none that holds anything, and every certificate would be refused.
    package static var path: String? {
        places.first { path in
            var info = stat()
            return stat(path, &info) == 0 && info.st_size > 0
        }
    }
}
