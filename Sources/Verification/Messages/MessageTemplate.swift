// SPDX-License-Identifier: Apache-2.0

import Formats

/// A text with placeholders.
///
/// Such as `{code} is your {appName} code.`
package struct MessageTemplate: Sendable, Equatable {
    /// The value that replaces a placeholder.
    package enum Place: String, Sendable, CaseIterable {
        case code
        case appName
        case minutes
    }

    enum Piece: Sendable, Equatable {
        case words(String)
        case place(Place)
    }

    let pieces: [Piece]

    /// The size of all words, without the placeholders.
    private let wordsSize: TextSize

    /// Reads a text; braces around no placeholder's name are plain words.
    init(_ text: String) {
        var pieces: [Piece] = []
        var words = text[...]
        var brace = text.startIndex
        while let found = text[brace...].utf8.firstIndex(of: UInt8(ascii: "{")) {
            let end = text[found...].utf8.firstIndex(of: UInt8(ascii: "}")) ?? text.endIndex
            brace = text.utf8.index(after: found)
            guard end != text.endIndex, let place = Place(rawValue: String(text[brace..<end])) else { continue }
            if words.startIndex < found { pieces.append(.words(String(words[..<found]))) }
            pieces.append(.place(place))
            brace = text.utf8.index(after: end)
            words = text[brace...]
        }
        if !words.isEmpty { pieces.append(.words(String(words))) }
        self.pieces = pieces
        wordsSize = pieces.reduce(.plain(0)) { size, piece in
            if case .words(let words) = piece { size + TextSize(words) } else { size }
        }
    }

    /// The text, with each placeholder replaced by `value` and the words transformed by `spell`.
    ///
    /// Values are inserted once and not parsed again, so braces in a name are kept.
    package func text(spell: (String) -> String = { $0 }, value: (Place) -> String) -> String {
        pieces.reduce(into: "") { text, piece in
            switch piece {
            case .words(let words): text += spell(words)
            case .place(let place): text += value(place)
            }
        }
    }

    func size(value: (Place) -> TextSize) -> TextSize {
        pieces.reduce(wordsSize) { size, piece in
            if case .place(let place) = piece { size + value(place) } else { size }
        }
    }
}
