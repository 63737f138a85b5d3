// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Prints lines on standard output.
func printOutput(_ lines: [String]) {
    printOutput(Array(lines.joined(separator: "\n").utf8))
}

/// Prints one document on standard output, its line ended.
///
/// Where it cannot be written, on a full disk for one, the process ends with code 2: nothing more could be told.
func printOutput(_ bytes: [UInt8]) {
    do {
        try FileHandle.standardOutput.write(contentsOf: Data(bytes + [UInt8(ascii: "\n")]))
    } catch {
        printError("code-courier: standard output cannot be written")
        endProcess(2)
    }
}

/// Prints a line for the person at the terminal, which is no part of the output.
///
/// Nothing can be said where standard error is closed or full, and the command goes on.
func printError(_ text: String, terminator: String = "\n") {
    try? FileHandle.standardError.write(contentsOf: Data("\(text)\(terminator)".utf8))
}
