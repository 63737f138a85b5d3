// SPDX-License-Identifier: Apache-2.0

/// How many lines came, and how many of them said something.
package struct LineTally: Sendable, Equatable {
    package private(set) var lines = 0

    /// Lines that are no JSON object with a time: cut off, of another program, or in format `text`.
    package private(set) var broken = 0

    /// So many lines without a single entry are no log of ours, for a reader who waits for the first one.
    private static let patience = 100

    package init() {}

    /// The entry of a line; nil for a broken or an empty one.
    package mutating func read(_ line: LineBuffer.Line) -> LogEntry? {
        guard case .whole(let bytes) = line else {
            lines += 1
            broken += 1
            return nil
        }
        if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0d || $0 == 0x09 }) { return nil }
        lines += 1
        let entry = LogEntry(bytes)
        if entry == nil { broken += 1 }
        return entry
    }

    /// Whether what came so far, or all there is, holds no entry.
    package func isForeign(atEnd: Bool) -> Bool {
        broken == lines && lines >= (atEnd ? 1 : Self.patience)
    }

    package static func += (sum: inout LineTally, other: LineTally) {
        sum.lines += other.lines
        sum.broken += other.broken
    }
}
