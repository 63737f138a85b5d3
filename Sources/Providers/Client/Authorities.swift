// SPDX-License-Identifier: Apache-2.0

import Glibc
import NIOSSL

/// The identity of a file's content: it differs once the file was written or replaced.
struct FileStamp: Equatable {
    private let device: UInt
    private let number: UInt
    private let size: Int
    private let seconds: Int
    private let nanoseconds: Int

    /// The stamp of a file of authorities, or of the system's own.
    init?(ofAuthorities path: String?) {
        self.init(path ?? SystemAuthorities.path)
    }

    /// Nil where there is no file, as where a folder stands in its place.
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

/// Certificates in PEM, as a file has them.
package enum CertificateText {
    /// True when there are some and each can be read.
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
