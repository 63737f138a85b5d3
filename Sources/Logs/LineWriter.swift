// SPDX-License-Identifier: Apache-2.0

import Formats
import Glibc

/// Writes whole lines to a file descriptor that may be full, slow or closed.
///
/// It never fails and never waits long: lines that cannot be written are dropped and counted. A partly written line is
/// completed before the next one, so that every line starts at a line's beginning.
struct LineWriter {
    private let descriptor: Int32
    private let maxWait: Duration
    private var remainder: ArraySlice<UInt8> = []
    private var isStalled = false

    /// The number of dropped lines that are not reported yet.
    private(set) var dropped = 0

    /// The bytes that a writable pipe accepts without blocking: PIPE_BUF on Linux (POSIX).
    private static let pieceSize = 4096

    /// Creates a writer that waits up to `maxWait`, once, for a reader that has stopped reading.
    init(descriptor: Int32, maxWait: Duration = .milliseconds(200)) {
        self.descriptor = descriptor
        self.maxWait = maxWait
    }

    /// Writes a line with its line break, or drops it; false then.
    @discardableResult
    mutating func write(_ line: [UInt8]) -> Bool {
        if !remainder.isEmpty { remainder = send(remainder) }
        guard remainder.isEmpty else {
            dropped += 1
            return false
        }
        let rest = send(line[...])
        let isDropped = rest.count == line.count
        if isDropped { dropped += 1 } else { remainder = rest }
        return !isDropped
    }

    /// Writes a line about the dropped lines, and resets their number if it succeeds.
    mutating func writeDropped(_ line: (Int) -> [UInt8]) {
        guard dropped > 0, isWritable(within: .zero) else { return }
        let count = dropped
        dropped = write(line(count)) ? 0 : count
    }

    /// Writes as much as the descriptor accepts; returns the rest.
    private mutating func send(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes
        while !rest.isEmpty {
            guard isWritable(within: isStalled ? .zero : maxWait) else {
                isStalled = true
                return rest
            }
            let piece = rest.prefix(Self.pieceSize)
            let count = piece.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count <= 0 {
                if count < 0, errno == EINTR { continue }
                isStalled = true
                return rest
            }
            isStalled = false
            rest = rest.dropFirst(count)
        }
        return rest
    }

    private func isWritable(within limit: Duration) -> Bool {
        let milliseconds = Int32(clamping: limit.microseconds / 1000)
        var target = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&target, 1, milliseconds) > 0 && target.revents & Int16(POLLOUT) != 0
    }
}
