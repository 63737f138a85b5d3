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
