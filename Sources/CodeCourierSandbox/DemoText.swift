// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// The demonstration's lines, for a terminal of 80 columns.
enum DemoText {
    /// The longest line.
    private static let width = 79

    /// A command as a person would type it: codes are hidden, ids are short, and long ones continue on the next line.
    static func command(_ arguments: [String], program: String = "code-courier", prompt: String = "   $ ") -> String {
        let typed = arguments.flatMap { argument in
            argument.hasPrefix("--") ? argument.split(separator: "=", maxSplits: 1).map(String.init) : [argument]
        }
        let words = typed.enumerated().map { index, word in
            index > 0 && typed[index - 1] == "--code" ? "…" : shortened(word)
        }
        var lines = ["\(prompt)\(program)"]
        // An option and its value stay together.
        for part in parts(words) {
            // Leave room for the backslash that continues the line.
            if lines[lines.count - 1].count + 1 + part.count + 2 <= width {
                lines[lines.count - 1] += " \(part)"
            } else {
                lines[lines.count - 1] += " \\"
                lines.append(String(repeating: " ", count: prompt.count + 2) + part)
            }
        }
        return lines.joined(separator: "\n")
    }

    private static func parts(_ words: [String]) -> [String] {
        words.reduce(into: []) { parts, word in
            if !word.hasPrefix("--"), let last = parts.last, last.hasPrefix("--"), !last.contains(" ") {
                parts[parts.count - 1] += " \(word)"
            } else {
                parts.append(word)
            }
        }
    }

    /// A text in which ids and device tokens are their last six digits.
    static func shortened(_ text: some StringProtocol) -> String {
        String(text).replacing(#/[0-9a-f-]{32,}/#) { "…\($0.output.suffix(6))" }
    }

    /// A line of the story, in colours if standard output is a terminal that supports them.
    static func coloured(_ line: String) -> String {
        let environment = ProcessInfo.processInfo.environment
        guard isatty(STDOUT_FILENO) == 1, environment["NO_COLOR"] == nil, environment["TERM"] != "dumb" else {
            return line
        }
        if line.first?.isNumber == true { return "\u{1B}[1m\(line)\u{1B}[0m" }
        let words = ["sent": 32, "approved": 32, "suppressed": 33, "incorrect": 31, "rejected": 31, "not_json": 31]
        let first = line.drop { $0 == " " }.prefix { $0.isLetter || $0 == "_" }
        guard line.hasPrefix("     "), let colour = words[String(first)] else { return line }
        let rest = line[first.endIndex...]
        return "\(line[..<first.startIndex])\u{1B}[\(colour)m\(first)\u{1B}[0m\(rest)"
    }

    /// The path of a program, as a person in the current folder would type it.
    static func path(of program: URL) -> String {
        let folder = URL(filePath: FileManager.default.currentDirectoryPath).resolvingSymlinksInPath()
        // SwiftPM also makes a link with a short name for the platform's folder.
        for name in [".build/debug", ".build/release"] {
            let short = "\(name)/\(program.lastPathComponent)"
            if folder.appending(path: short).resolvingSymlinksInPath().path == program.path { return short }
        }
        let prefix = folder.path + "/"
        return program.path.hasPrefix(prefix) ? String(program.path.dropFirst(prefix.count)) : program.path
    }
}
