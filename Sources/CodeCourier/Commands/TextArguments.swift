// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import Verification

/// A phone number as people write it on a command line: `+49 (151) 234-567.89`, `0049151…`, or only digits behind a plus.
enum PhoneArgument {
    /// The number in the form of E.164 if the text may be one, otherwise the text.
    static func normalized(_ text: String) -> String {
        var digits = text.filter { !$0.isWhitespace && !"-.()/\u{2010}\u{2011}\u{2012}\u{2013}".contains($0) }
        if digits.hasPrefix("00") { digits = "+" + digits.dropFirst(2) }
        return PhoneNumber(digits) == nil ? text : digits
    }

    static func parse(_ text: String) -> PhoneNumber? { PhoneNumber(normalized(text)) }
}

/// A language on a command line, such as `de`, `pt-BR` or `fil`.
enum LanguageArgument {
    /// False also for well-formed tags that no language has, such as `klingon`: registered ones have 2 or 3 letters.
    static func isValid(_ text: String) -> Bool {
        guard let tag = LanguageTag(text) else { return false }
        return (2...3).contains(tag.text.prefix { $0 != "-" }.count)
    }
}

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
