// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Prints a line on standard output and flushes it, so that a viewer sees each step as it happens.
func printOutput(_ line: String) {
    print(line)
    fflush(nil)
}

/// Prints a line on standard error, for the person at the terminal.
func printError(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data("\(line)\n".utf8))
}
