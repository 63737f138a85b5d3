// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The identity of a file's state, from its metadata; for a symbolic link, of its target.
struct FileIdentity: Sendable, Equatable {
    private let device: dev_t
    private let inode: ino_t
    private let size: off_t
    private let seconds: [Int]

    /// Nil when the file does not exist or is inaccessible.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        device = status.st_dev
        inode = status.st_ino
        size = status.st_size
        // The inode's change time also moves when a tool restores the old modification time.
        seconds = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}

/// Detects when a changed file is ready to be read: after two equal checks in a row, since a writer may not be done.
struct FileChanges: Sendable {
    private var last: FileIdentity??
    private var settled: FileIdentity??

    /// True when the file differs from its last settled state and is the same as at the previous check.
    mutating func isSettled(_ current: FileIdentity?) -> Bool {
        defer { last = .some(current) }
        guard let last, last == current else { return false }
        if let settled, settled == current { return false }
        settled = .some(current)
        return true
    }
}
