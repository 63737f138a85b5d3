// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What tells two states of a file apart without reading it; of the file that a symbolic link leads to.
struct FileIdentity: Sendable, Equatable {
    private let device: dev_t
    private let inode: ino_t
    private let size: off_t
    private let seconds: [Int]

    /// Nil when there is no such file, or none that may be looked at.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = status.st_dev
        inode = status.st_ino
        size = status.st_size
        // The time of the last change of the inode also moves when a tool puts the old modification time back.
        seconds = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}

/// Tells when a file that changed is worth reading: once it looks the same twice, since a writer may not be done.
struct FileChanges: Sendable {
    private var last: FileIdentity??
    private var settled: FileIdentity??

    /// Whether the file differs from when it was last settled, and is so for the second time running.
    mutating func isSettled(_ current: FileIdentity?) -> Bool {
        defer { last = .some(current) }
        guard let last, last == current else { return false }
        if let settled, settled == current { return false }
        settled = .some(current)
        return true
    }
}
