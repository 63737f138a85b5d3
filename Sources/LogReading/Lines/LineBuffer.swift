// SPDX-License-Identifier: Apache-2.0

/// Splits a stream of bytes into lines, in bounded memory.
package struct LineBuffer {
    package enum Line: Equatable {
        case whole([UInt8])

        /// A line above `longestLine`, whose bytes were dropped.
        case tooLong
    }

    /// The maximum length, far above that of a worker's own lines and of collectors' wrapping.
    package static let longestLine = 1 << 18

    private var bytes: [UInt8] = []
    private var start = 0

    /// The bytes before this index contain no line end.
    private var scanned = 0
    private var isSkipping = false

    package init() {}

    package mutating func append(_ chunk: some Collection<UInt8>) {
        if start > 0 {
            bytes.removeSubrange(..<start)
            scanned -= start
            start = 0
        }
        bytes.append(contentsOf: chunk)
    }

    /// The next line without its end; nil until more bytes arrive.
    package mutating func next() -> Line? {
        while true {
            guard let end = bytes[scanned...].firstIndex(of: UInt8(ascii: "\n")) else {
                scanned = bytes.count
                guard bytes.count - start > Self.longestLine else { return nil }
                isSkipping = true
                start = bytes.count
                return nil
            }
            let line = bytes[start..<end]
            start = end + 1
            scanned = start
            if isSkipping {
                isSkipping = false
                return .tooLong
            }
            return line.count > Self.longestLine ? .tooLong : .whole(Array(line))
        }
    }

    /// The bytes after the last line end, called at the end of the input.
    package mutating func rest() -> Line? {
        defer { self = LineBuffer() }
        if isSkipping { return .tooLong }
        return start < bytes.count ? .whole(Array(bytes[start...])) : nil
    }
}

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
