// SPDX-License-Identifier: Apache-2.0

import Glibc
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
        let now = FileStamp(options?.authorities ?? SystemAuthorities.path)
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

/// What tells one content of a file from another.
struct FileStamp: Equatable {
    private let device: UInt
    private let number: UInt
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// Nil where there is no file, as where a folder stands in its place.
    init?(_ path: String?) {
        var info = stat()
        guard let path, stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
        device = UInt(info.st_dev)
        number = UInt(info.st_ino)
        size = Int(info.st_size)
        seconds = info.st_mtim.tv_sec
        nanoseconds = info.st_mtim.tv_nsec
    }
}

/// Certificates in PEM, as a file has them.
package enum CertificateText {
    /// Whether there are any and each can be read.
    package static func isWhole(_ text: String) -> Bool {
        (try? NIOSSLCertificate.fromPEMBytes(Array(text.utf8)).isEmpty) == false
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
