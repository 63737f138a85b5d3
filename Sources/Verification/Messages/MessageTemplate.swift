// SPDX-License-Identifier: Apache-2.0

/// A text with places for values.
///
/// Such as `{code} is your {appName} code.`
package struct MessageTemplate: Sendable, Equatable {
    /// What stands in a place.
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

    /// The size of all words, without the places.
    private let wordsSize: TextSize

    /// Reads a text; braces that hold no place's name are words.
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

    /// The text, with what `value` gives in each place and what `spell` makes of the words.
    ///
    /// Values are put in once and never read again, so a name with braces stays a name.
    package func text(spell: (String) -> String = { $0 }, value: (Place) -> String) -> String {
        pieces.reduce(into: "") { text, piece in
            switch piece {
            case .words(let words): text += spell(words)
            case .place(let place): text += value(place)
            }
        }
    }

    /// The size of the text whose values have these sizes.
    func size(value: (Place) -> TextSize) -> TextSize {
        pieces.reduce(wordsSize) { size, piece in
            if case .place(let place) = piece { size + value(place) } else { size }
        }
    }
}
