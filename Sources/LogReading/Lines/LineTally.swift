// SPDX-License-Identifier: Apache-2.0

/// Counts lines, and those that are no entries.
package struct LineTally: Sendable, Equatable {
    package private(set) var lines = 0

    /// Lines that are no JSON object with a time: truncated, from another program, or in format `text`.
    package private(set) var broken = 0

    package init() {}

    /// Parses a line; nil for a broken or an empty one.
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

    /// True when there are lines but none of them is an entry.
    package var isForeign: Bool { lines > 0 && broken == lines }

    /// A hint for a reader who waits for the first entry; nil unless all lines are foreign.
    package var doubt: String? {
        guard isForeign else { return nil }
        return "\(Figure.count(lines, "line")) came, and none is an entry in format json or otel (log.format)."
    }

    package static func += (sum: inout LineTally, other: LineTally) {
        sum.lines += other.lines
        sum.broken += other.broken
    }
}
