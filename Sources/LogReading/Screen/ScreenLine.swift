// SPDX-License-Identifier: Apache-2.0

/// A line of a terminal: pieces of plain text, each with a style.
struct ScreenLine: Equatable {
    enum Style: String {
        case plain = "0"
        case strong = "1"
        case faint = "2"
        case good = "32"
        case doubtful = "33"
        case bad = "1;31"
    }

    private struct Piece: Equatable {
        let text: String
        let style: Style
    }

    private var pieces: [Piece] = []
    private(set) var width = 0

    init(_ text: String = "", _ style: Style = .plain) {
        add(text, style)
    }

    /// Appends text, one column for each character.
    mutating func add(_ text: String, _ style: Style = .plain) {
        let text = text.narrow
        guard !text.isEmpty else { return }
        pieces.append(Piece(text: text, style: style))
        width += text.utf8.count
    }

    /// Appends text in a cell of fixed width, numbers aligned right; longer text is truncated.
    mutating func cell(_ text: String, _ columns: Int, isNumber: Bool = true, _ style: Style = .plain) {
        let text = text.narrow
        let shown = text.utf8.count <= columns ? text : String(text.prefix(max(0, columns - 1))) + "~"
        let padding = String(repeating: " ", count: columns - shown.utf8.count)
        add(isNumber ? padding + shown : shown + padding, style)
    }

    /// Appends spaces up to a column.
    mutating func fill(to column: Int) {
        if width < column { add(String(repeating: " ", count: column - width)) }
    }

    static func + (left: ScreenLine, right: ScreenLine) -> ScreenLine {
        var line = left
        for piece in right.pieces { line.add(piece.text, piece.style) }
        return line
    }

    /// The text without styles, truncated to a width.
    func plain(width: Int) -> String {
        String(pieces.map(\.text).joined().prefix(width))
    }

    /// The text truncated to a width, with the terminal's codes for colours.
    func styled(width: Int, colours: Bool) -> String {
        var left = width
        var line = ""
        for piece in pieces where left > 0 {
            let text = String(piece.text.prefix(left))
            left -= text.utf8.count
            let isColour = piece.style == .good || piece.style == .doubtful
            if piece.style == .plain || (isColour && !colours) {
                line += text
            } else {
                let style = piece.style == .bad && !colours ? Style.strong : piece.style
                line += "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m"
            }
        }
        return line
    }
}

extension String {
    /// The text in printable ASCII, with a question mark for each other character.
    ///
    /// So a log's names cannot move the cursor, and every character takes one column.
    fileprivate var narrow: String {
        String(String.UnicodeScalarView(unicodeScalars.map { (" "..."~").contains($0) ? $0 : "?" }))
    }
}
