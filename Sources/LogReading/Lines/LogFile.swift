// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A log that is read once from start to end: a file or standard input.
final class LogFile {
    /// The log's name in messages: its path, or `stdin`.
    let name: String
    private(set) var tally = LineTally()
    private let descriptor: Int32
    private var buffer = LogLines()
    private var chunk = [UInt8](repeating: 0, count: 1 << 17)
    private var isAtEnd = false

    /// Opens a path; `-` is standard input.
    init(path: String) throws(LogFault) {
        name = path == "-" ? "stdin" : path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, reason: Self.lastError) }
    }

    deinit {
        if descriptor > STDERR_FILENO { close(descriptor) }
    }

    /// The next entry, skipping broken lines; nil at the end.
    func next() throws(LogFault) -> LogEntry? {
        while true {
            while let line = buffer.next() ?? (isAtEnd ? buffer.rest() : nil) {
                if let entry = tally.read(line) { return entry }
            }
            guard !isAtEnd else { return nil }
            try fill()
        }
    }

    /// True when the whole log was read and none of its lines is an entry.
    var isForeign: Bool { isAtEnd && tally.isForeign }

    private func fill() throws(LogFault) {
        let count = read(descriptor, &chunk, chunk.count)
        switch count {
        case 1...: buffer.append(chunk[..<count])
        case 0: isAtEnd = true
        default:
            guard errno != EINTR else { return }
            throw .unreadable(path: name, reason: Self.lastError)
        }
    }

    private static var lastError: String { String(cString: strerror(errno)) }
}
