// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An argument that names a person, which other users of the machine could see: a hyphen asks for it, or reads a pipe.
enum PersonArgument {
    static func text(_ given: String, _ what: String) throws -> String {
        guard given == "-" else { return given }
        if isatty(STDIN_FILENO) == 1 { printError(what, terminator: ": ") }
        guard let line = readLine() else { throw StartFailure.report(["no \(what) on standard input"]) }
        return line.trimmed
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text.drop(while: \.isWhitespace))
    }
}
