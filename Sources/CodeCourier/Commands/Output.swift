// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// Prints lines for people on standard output, in the form for its terminal.
func printOutput(_ lines: [String]) {
    printOutput(Array(OutputStyle.current.lines(lines).joined(separator: "\n").utf8))
}

/// Prints one document and a line end on standard output.
///
/// If it cannot be written, for example because the disk is full, the process ends with code 2: it could report nothing
/// more.
func printOutput(_ bytes: [UInt8]) {
    do {
        try FileHandle.standardOutput.write(contentsOf: Data(bytes + [UInt8(ascii: "\n")]))
    } catch {
        printError("code-courier: standard output cannot be written")
        endProcess(2)
    }
}

/// Prints a line on standard error, for the person at the terminal.
///
/// A failure is ignored, since it could not be reported, and the command continues.
func printError(_ text: String, terminator: String = "\n") {
    try? FileHandle.standardError.write(contentsOf: Data("\(text)\(terminator)".utf8))
}

/// Prints the progress of a long command on standard error, at the rate of `ProgressClock`.
final class ProgressLines: Sendable {
    private let clock = Mutex(ProgressClock())
    private let line: @Sendable (Int) -> String

    init(_ line: @escaping @Sendable (Int) -> String) {
        self.line = line
    }

    func show(_ count: Int) {
        let isDue = clock.withLock { $0.elapsed() != nil }
        if isDue { printError(line(count)) }
    }
}

/// Limits the progress lines of a long command to one every two seconds.
struct ProgressClock: Sendable {
    private static let interval = Duration.seconds(2)

    private var last = ContinuousClock.now

    /// The time since the last line, or since the start, when a line is due; else nil.
    mutating func elapsed() -> Duration? {
        let now = ContinuousClock.now
        let elapsed = now - last
        guard elapsed >= Self.interval else { return nil }
        last = now
        return elapsed
    }
}
