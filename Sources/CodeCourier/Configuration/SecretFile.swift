// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A file with a secret, replaced as a whole so that a worker never reads half of it.
struct SecretFile {
    /// The file itself: a symbolic link stays, and its target is replaced.
    let path: String

    /// A failed system call.
    struct Failure: Error, CustomStringConvertible {
        let path: String
        let call: String
        let code: Int32

        var description: String {
            "\(path) cannot be changed (\(call): \(String(cString: strerror(code)))): as a mounted secret, change it where "
                + "it comes from; else run this as the owner of the file and its folder"
        }
    }

    init(_ path: String) {
        self.path = URL(filePath: path).resolvingSymlinksInPath().path
    }

    /// Replaces the text, and keeps the mode and the owner.
    func replace(with text: String) throws {
        var status = stat()
        guard stat(path, &status) == 0 else { throw Failure(path: path, call: "stat", code: errno) }
        let next = "\(path).next"
        let descriptor = open(next, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(path: path, call: "open \(next)", code: errno) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            let isOwner = status.st_uid == geteuid() && status.st_gid == getegid()
            guard isOwner || fchown(descriptor, status.st_uid, status.st_gid) == 0 else {
                throw Failure(path: path, call: "chown", code: errno)
            }
            try file.write(contentsOf: Data(text.utf8))
            guard fchmod(descriptor, status.st_mode & 0o7777) == 0 else {
                throw Failure(path: path, call: "chmod", code: errno)
            }
            try file.synchronize()
            try file.close()
            guard rename(next, path) == 0 else { throw Failure(path: path, call: "rename", code: errno) }
        } catch {
            unlink(next)
            throw error
        }
    }
}
