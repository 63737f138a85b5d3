// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// Lines of aligned columns for a terminal.
struct TextTable {
    private var rows: [[String]] = []

    /// The indexes of columns with numbers, which are aligned to the right.
    private let numbers: Set<Int>
    private let indent: String

    init(numbers: Set<Int> = [], indent: Int = 2) {
        self.numbers = numbers
        self.indent = String(repeating: " ", count: indent)
    }

    mutating func row(_ cells: String...) {
        rows.append(cells)
    }

    mutating func row(_ cells: [String]) {
        rows.append(cells)
    }

    /// One line a row, with control characters as spaces and without trailing spaces.
    var lines: [String] {
        let rows = rows.map { $0.map(\.printable) }
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.map { row in
            let cells = row.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return numbers.contains(column) ? padding + cell : cell + padding
            }
            let line = indent + cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}

extension String {
    /// The text with control characters, which could move a terminal's cursor, as spaces.
    var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }
}

extension Int {
    /// The number with its sign, such as `+12`.
    var signed: String { self > 0 ? "+\(grouped)" : grouped }
}
