// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Prints a line on standard output at once: who looks on reads it when it happens.
func printOutput(_ line: String) {
    print(line)
    fflush(nil)
}

/// Prints a line for the person at the terminal, which is no part of the output.
func printError(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data("\(line)\n".utf8))
}
