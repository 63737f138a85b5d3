// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Merges several logs by time, with one entry of each in memory.
///
/// Each log is assumed to be in order; otherwise its entries keep its own order.
package final class LogFiles {
    private struct Head {
        let entry: LogEntry
        let file: LogFile
    }

    private var heads: [Head] = []
    private let files: [LogFile]

    /// The names of the logs that contain lines but no entry, which are skipped.
    package let foreign: [String]

    /// Opens the paths; `-` is standard input.
    ///
    /// Throws when one cannot be opened or read, and when all are foreign.
    package init(paths: [String]) throws(LogFault) {
        var files: [LogFile] = []
        for path in paths { files.append(try LogFile(path: path)) }
        var heads: [Head] = []
        for file in files {
            if let entry = try file.next() { heads.append(Head(entry: entry, file: file)) }
        }
        foreign = files.filter(\.isForeign).map(\.name)
        if let name = foreign.first, foreign.count == files.count { throw .foreign(path: name) }
        self.files = files.filter { !$0.isForeign }
        self.heads = heads
    }

    /// The earliest remaining entry, and the name of its log.
    package func next() throws(LogFault) -> (entry: LogEntry, file: String)? {
        guard let earliest = heads.indices.min(by: { heads[$0].entry.time < heads[$1].entry.time }) else { return nil }
        let head = heads[earliest]
        if let entry = try head.file.next() {
            heads[earliest] = Head(entry: entry, file: head.file)
        } else {
            heads.remove(at: earliest)
        }
        return (head.entry, head.file.name)
    }

    /// The lines read so far, of all logs that are not foreign.
    package var tally: LineTally {
        files.reduce(into: LineTally()) { $0 += $1.tally }
    }
}

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
