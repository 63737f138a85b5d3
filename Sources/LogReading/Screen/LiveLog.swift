// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A log that is read as it grows: a stream, such as standard input and a pipe, or a file that may be rotated.
package final class LiveLog {
    package private(set) var tally = LineTally()

    /// Whether a stream has ended; a file never has.
    package private(set) var isOver = false

    /// What messages call it: its path, or `stdin`.
    private let name: String

    /// Where a file is found again when it is rotated; nil for a stream.
    private let path: String?
    private var descriptor: Int32
    private var position: off_t = 0
    private var buffer = LogLines()
    private var chunk = [UInt8](repeating: 0, count: 1 << 16)

    /// A file is read from so near its end: the last minutes of a fleet.
    private static let lookBack: off_t = 4 << 20

    /// Opens a path; `-` is standard input.
    package init(path: String) throws(LogFault) {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, reason: String(cString: strerror(errno))) }
        self.descriptor = descriptor
        name = path == "-" ? "stdin" : path
        // A path may be a pipe, as a shell's `<(…)` is.
        self.path = path == "-" || !Self.isFile(descriptor) ? nil : path
        guard self.path != nil else { return }
        let size = lseek(descriptor, 0, SEEK_END)
        // A character of UTF-16 begins at an even place.
        position = max(0, size - Self.lookBack) & ~1
        guard position > 0 else {
            _ = lseek(descriptor, 0, SEEK_SET)
            return
        }
        var beginning: [UInt8] = [0x20, 0x20]
        if pread(descriptor, &beginning, 2, 0) == 2 { buffer = LogLines(ofFileBeginningWith: beginning) }
        _ = lseek(descriptor, position, SEEK_SET)
        if !beginning.contains(where: { $0 == 0 || $0 > 0xfd }) { skipLine() }
    }

    deinit {
        if descriptor > STDERR_FILENO { close(descriptor) }
    }

    private static func isFile(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// What a caller may wait on; nil where nothing would tell of new bytes.
    package var waitable: Int32? { path == nil && !isOver ? descriptor : nil }

    /// The entries that have come, of some of the bytes that are there; nil when there are no bytes now.
    ///
    /// On a stream it blocks when `waitable` has not been found readable. That no line was an entry is a fault at a
    /// stream's end alone: before it, and in a file, one may still come.
    package func next() throws(LogFault) -> [LogEntry]? {
        guard !isOver else { return nil }
        let count = read(descriptor, &chunk, chunk.count)
        guard count >= 0 else {
            if errno == EINTR || errno == EAGAIN { return nil }
            throw .unreadable(path: name, reason: String(cString: strerror(errno)))
        }
        if count == 0 {
            guard path == nil else {
                reopenIfRotated()
                return nil
            }
            isOver = true
            return try entries(buffer.rest())
        }
        position += off_t(count)
        buffer.append(chunk[..<count])
        return try entries(nil)
    }

    private func entries(_ rest: LineBuffer.Line?) throws(LogFault) -> [LogEntry] {
        var entries: [LogEntry] = []
        while let line = buffer.next() {
            if let entry = tally.read(line) { entries.append(entry) }
        }
        if let rest, let entry = tally.read(rest) { entries.append(entry) }
        guard !isOver || !tally.isForeign else { throw .foreign(path: name) }
        return entries
    }

    /// Reads on in the file that has taken the path's place, or from the beginning of one that was cut.
    private func reopenIfRotated() {
        guard let path else { return }
        var here = stat()
        var there = stat()
        guard fstat(descriptor, &here) == 0, stat(path, &there) == 0 else { return }
        if here.st_ino != there.st_ino || here.st_dev != there.st_dev {
            let next = open(path, O_RDONLY | O_CLOEXEC)
            guard next >= 0 else { return }
            close(descriptor)
            descriptor = next
        } else if here.st_size < position {
            _ = lseek(descriptor, 0, SEEK_SET)
        } else {
            return
        }
        position = 0
        buffer = LogLines()
    }

    /// Steps over a line that is read from its middle.
    private func skipLine() {
        var byte: UInt8 = 0
        while read(descriptor, &byte, 1) == 1 {
            position += 1
            if byte == UInt8(ascii: "\n") { return }
        }
    }
}
