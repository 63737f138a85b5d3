// SPDX-License-Identifier: Apache-2.0

import Verification

/// Several logs as one, merged by time, one entry of each in memory.
///
/// Each log is taken to be in order; where it is not, its entries come in its own order.
package final class LogFiles {
    private struct Head {
        let entry: LogEntry
        let file: LogFile
    }

    private var heads: [Head] = []
    private let files: [LogFile]

    /// The names of the logs that hold lines and no entry: they are passed over.
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

    /// The earliest entry that is left, and the name of its log.
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

    /// What was read so far, of all logs that are not foreign.
    package var tally: LineTally {
        files.reduce(into: LineTally()) { $0 += $1.tally }
    }
}
