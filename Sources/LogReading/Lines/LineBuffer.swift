// SPDX-License-Identifier: Apache-2.0

/// Cuts a stream of bytes into lines, in bounded memory.
package struct LineBuffer {
    package enum Line: Equatable {
        case whole([UInt8])

        /// Longer than any line that a worker writes; its bytes are gone.
        case tooLong
    }

    /// Far above the cap of a worker's own lines, and of what collectors pass on.
    package static let longestLine = 1 << 18

    private var bytes: [UInt8] = []
    private var start = 0

    /// Bytes before this place hold no end of a line.
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

    /// The next line without its end; nil until more bytes have come.
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

    /// What stands after the last end of a line, when nothing more will come.
    package mutating func rest() -> Line? {
        defer { self = LineBuffer() }
        if isSkipping { return .tooLong }
        return start < bytes.count ? .whole(Array(bytes[start...])) : nil
    }
}
