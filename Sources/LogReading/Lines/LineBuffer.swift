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
