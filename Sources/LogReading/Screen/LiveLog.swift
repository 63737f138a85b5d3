// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A log that is read as it grows: a stream, such as standard input or a pipe, or a file that may be rotated.
package final class LiveLog {
    package private(set) var tally = LineTally()

    /// True when a stream has ended; a file never ends.
    package private(set) var isOver = false

    /// The log's name in messages: its path, or `stdin`.
    private let name: String

    /// The path at which a rotated file is reopened; nil for a stream.
    private let path: String?
    private var descriptor: Int32
    private var position: off_t = 0
    private var buffer = LogLines()
    private var chunk = [UInt8](repeating: 0, count: 1 << 16)

    /// The distance from a file's end at which reading starts: the last minutes of a fleet.
    private static let lookBack: off_t = 4 << 20

    /// Opens a path; `-` is standard input.
    package init(path: String) throws(LogFault) {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, reason: String(cString: strerror(errno))) }
        self.descriptor = descriptor
        name = path == "-" ? "stdin" : path
        // A path may be a pipe, as in a shell's `<(…)`.
        self.path = path == "-" || !Self.isFile(descriptor) ? nil : path
        guard self.path != nil else { return }
        let size = lseek(descriptor, 0, SEEK_END)
        // An even offset, at which UTF-16 characters begin.
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

    /// A descriptor that becomes readable when bytes arrive; nil for a file, where nothing signals new bytes.
    package var waitable: Int32? { path == nil && !isOver ? descriptor : nil }

    /// The entries of the next chunk of bytes; nil when there are no new bytes.
    ///
    /// On a stream it blocks unless `waitable` is readable. Only at a stream's end does it throw because no line was an
    /// entry: before that, and in a file, one may still come.
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

    /// Opens the file that has replaced a rotated one, or restarts at the beginning of a truncated file.
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

    /// Skips the rest of a line, when reading starts in its middle.
    private func skipLine() {
        var byte: UInt8 = 0
        while read(descriptor, &byte, 1) == 1 {
            position += 1
            if byte == UInt8(ascii: "\n") { return }
        }
    }
}
