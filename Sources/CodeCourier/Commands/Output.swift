// SPDX-License-Identifier: Apache-2.0

import Foundation

func printOutput(_ lines: [String]) {
    printOutput(Array(lines.joined(separator: "\n").utf8))
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
