// SPDX-License-Identifier: Apache-2.0

import Foundation
import LogReading

/// The form of a command's lines: on a terminal not wider than it, and in colour; in a pipe or file unchanged.
struct OutputStyle {
    /// The columns of the terminal; nil without one.
    let width: Int?
    let hasColours: Bool

    /// The form for standard output.
    static var current: OutputStyle {
        let width = Terminal.outputWidth
        let environment = ProcessInfo.processInfo.environment
        return OutputStyle(
            width: width,
            hasColours: width != nil && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
        )
    }

    func lines(_ lines: [String]) -> [String] {
        let fitting = width.map { width in lines.flatMap { Self.wrapped($0, to: width) } } ?? lines
        return hasColours ? fitting.map(Self.coloured) : fitting
    }

    // MARK: - Width

    /// The minimum columns for the last cell; with fewer, it continues on the lines below, as a paragraph.
    private static let leastColumn = 24

    /// A line in pieces of at most `width` columns, if its words allow that.
    ///
    /// Blanks of two or more separate cells. A long last cell continues below its beginning; other cells that do not
    /// fit begin a line of their own, indented.
    static func wrapped(_ line: String, to width: Int) -> [String] {
        guard line.count > width else { return [line] }
        let cells = cells(of: line)
        guard let first = cells.first, let last = cells.last else { return [line] }
        let head = String(line.prefix(last.start))
        if cells.count == 1 { return paragraph(last.text, after: head, indent: last.start + 2, width) }
        if last.start <= width - leastColumn { return paragraph(last.text, after: head, indent: last.start, width) }
        let indent = first.start + 4
        var (lines, current) = ([String](), String(repeating: " ", count: first.start))
        for cell in cells {
            let padded = current.padding(toLength: max(current.count, cell.start), withPad: " ", startingAt: 0)
            if lines.isEmpty, padded.count == cell.start, cell.start + cell.text.count <= width {
                current = padded + cell.text
            } else if !lines.isEmpty, current.count + 2 + cell.text.count <= width {
                current += "  \(cell.text)"
            } else {
                if !current.allSatisfy({ $0 == " " }) { lines.append(current) }
                let pieces = paragraph(cell.text, after: String(repeating: " ", count: indent), indent: indent, width)
                lines += pieces.dropLast()
                current = pieces.last ?? ""
            }
        }
        return lines + [current]
    }

    /// The texts between blanks of two or more, with the columns at which they begin.
    private static func cells(of line: String) -> [(start: Int, text: String)] {
        var cells: [(start: Int, text: String)] = []
        var blanks = 2
        for (column, character) in line.enumerated() {
            if character == " " {
                blanks += 1
            } else if blanks >= 2 || cells.isEmpty {
                cells.append((column, String(character)))
                blanks = 0
            } else {
                cells[cells.count - 1].text += String(repeating: " ", count: blanks) + String(character)
                blanks = 0
            }
        }
        return cells
    }

    /// Words behind `head`, continued at `indent`; a word that is wider than the terminal stays whole.
    private static func paragraph(_ text: String, after head: String, indent: Int, _ width: Int) -> [String] {
        var (lines, current, isEmpty) = ([String](), head, true)
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if !isEmpty, current.count + 1 + word.count > width {
                lines.append(current)
                (current, isEmpty) = (String(repeating: " ", count: indent), true)
            }
            current += isEmpty ? String(word) : " \(word)"
            isEmpty = false
        }
        return lines + [current]
    }

    // MARK: - Colour

    private static let colours: [String: Int] = {
        let words = [
            32: ["sent", "delivered", "approved", "live", "signs"],
            33: ["suppressed", "unknown", "pending", "claimed", "dispatching", "exhausted"],
            31: [
                "rejected", "failed", "undelivered", "expired_unsent", "incorrect", "locked", "blocked", "MISSING",
            ],
        ]
        return words.reduce(into: [:]) { colours, entry in for word in entry.value { colours[word] = entry.key } }
    }()

    /// The line with its first state in colour, and with `next:` in bold.
    static func coloured(_ line: String) -> String {
        if line.hasPrefix("next:") { return "\u{1B}[1mnext:\u{1B}[0m\(line.dropFirst(5))" }
        for cell in cells(of: line) {
            let word = cell.text.prefix { $0.isLetter || $0 == "_" }
            guard let colour = colours[String(word)], word.count == cell.text.count || isEnd(cell.text, word) else {
                continue
            }
            let start = line.index(line.startIndex, offsetBy: cell.start)
            return "\(line[..<start])\u{1B}[\(colour)m\(word)\u{1B}[0m\(line[start...].dropFirst(word.count))"
        }
        return line
    }

    /// True when the cell continues like `failed / provider_unavailable` or `live until …` do.
    private static func isEnd(_ cell: String, _ word: Substring) -> Bool {
        [" / ", " until ", " at ", ","].contains { cell.dropFirst(word.count).hasPrefix($0) }
    }
}
