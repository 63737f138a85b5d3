// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOSSL

/// The identity of a file's content, which changes when the file is written or replaced.
struct FileStamp: Equatable {
    private let device: UInt
    private let number: UInt
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// The stamp of the file at `path`, or of the system's file of authorities.
    init?(ofAuthorities path: String?) {
        self.init(path ?? SystemAuthorities.path)
    }

    /// Reads the stamp; nil where there is no regular file.
    private init?(_ path: String?) {
        var info = stat()
        guard let path, stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
        device = UInt(info.st_dev)
        number = UInt(info.st_ino)
        size = Int(info.st_size)
        seconds = info.st_mtim.tv_sec
        nanoseconds = info.st_mtim.tv_nsec
    }
}

/// Checks certificates in PEM form.
package enum CertificateText {
    /// True when the text holds at least one certificate and all of them can be parsed.
    package static func isWhole(_ text: String) -> Bool {
        (try? NIOSSLCertificate.fromPEMBytes(Array(text.utf8)).isEmpty) == false
    }
}

package enum SystemAuthorities {
    /// The files of the common distributions, in the order in which NIOSSL looks.
    private static let places = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"]

    /// The path of the system's file; nil where none has content, and every certificate would be rejected.
    package static var path: String? {
        places.first { path in
            var info = stat()
            return stat(path, &info) == 0 && info.st_size > 0
        }
    }
}

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
