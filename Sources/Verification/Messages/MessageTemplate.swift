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

    /// Reads a text; braces that do not enclose a placeholder's name are plain words.
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

extension MessageTemplate {
    /// The reason why a text is no valid SMS template, worded as the end of a sentence that begins with its key.
    package struct Flaw: Error, Sendable, Equatable, CustomStringConvertible {
        package let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    /// The maximum length of a template: a longer one can never fit one segment.
    private static let maximumScalars = 160

    /// Checks and reads an operator's text, by the rules for names in messages.
    ///
    /// The code must appear once and apart from letters and digits, so that people and phones find it, and the
    /// operator's own words must not contain another candidate.
    package init(checking text: String) throws(Flaw) {
        self.init(text)
        guard (1...Self.maximumScalars).contains(text.unicodeScalars.count) else {
            throw Flaw("must be 1 to \(Self.maximumScalars) characters long")
        }
        guard count(.code) == 1 else { throw Flaw("must have {code} exactly once") }
        guard count(.appName) <= 1, count(.minutes) <= 1 else {
            throw Flaw("must have {appName} and {minutes} at most once each")
        }
        guard !hasOtherBraces else {
            throw Flaw("must have no braces but those of {code}, {appName} and {minutes}")
        }
        // A value may join its neighbours, as in `{appName}.com`, so a letter replaces each placeholder in the check.
        if let flaw = TextFlaw(of: self.text { _ in "x" }, points: TextFlaw.everyPoint.subtracting([0x3002])) {
            throw Flaw(flaw == .digits ? "\(flaw.rawValue): \(digits)" : flaw.rawValue)
        }
        if let word = CodeLikeWord.first(in: wordsBeforeCode) {
            throw Flaw("has \(word) before {code}, which phones could take for the code: write {code} before it")
        }
        guard isCodeSeparate else { throw Flaw("must keep {code} apart from letters, digits and other places") }
    }

    /// True if the text has each of these placeholders once, no other placeholder and no other braces.
    func hasExactly(_ places: Set<Place>) -> Bool {
        !hasOtherBraces && Place.allCases.allSatisfy { count($0) == (places.contains($0) ? 1 : 0) }
    }

    private func count(_ place: Place) -> Int { pieces.count { $0 == .place(place) } }

    private var hasOtherBraces: Bool { words.contains { $0.contains { $0 == "{" || $0 == "}" } } }

    private var words: [String] {
        pieces.compactMap { if case .words(let words) = $0 { words } else { nil } }
    }

    /// The text's groups of digits, for the error message.
    private var digits: String {
        words.flatMap { $0.unicodeScalars.split { $0.properties.numericType != .decimal } }.map { String($0) }
            .joined(separator: ", ")
    }

    /// The words before the code, with a space for each placeholder.
    private var wordsBeforeCode: String {
        pieces.prefix { $0 != .place(.code) }.reduce(into: "") { text, piece in
            if case .words(let words) = piece { text += words } else { text += " " }
        }
    }

    /// True if no letter, digit or other placeholder touches the code.
    var isCodeSeparate: Bool {
        guard let index = pieces.firstIndex(of: .place(.code)) else { return false }
        let before = index == 0 ? nil : pieces[index - 1]
        let after = index + 1 == pieces.count ? nil : pieces[index + 1]
        return Self.isApart(before) { $0.last } && Self.isApart(after) { $0.first }
    }

    private static func isApart(
        _ neighbour: Piece?,
        touching: (String.UnicodeScalarView) -> Unicode.Scalar?
    ) -> Bool {
        switch neighbour {
        case nil: true
        case .place: false
        case .words(let words):
            touching(words.unicodeScalars).map {
                !$0.properties.isAlphabetic && $0.properties.numericType == nil
            } ?? true
        }
    }
}

/// Finds words that phones mistake for a code.
///
/// Android's User Consent API matches 4 to 10 letters and digits with at least one digit, iOS the first group that
/// looks like a code (developers.google.com/identity/sms-retriever/user-consent/overview, checked 2026-11). So no such
/// word may precede the code.
package enum CodeLikeWord {
    package static func first(in text: String) -> String? {
        let words = text.unicodeScalars.split { !$0.properties.isAlphabetic && $0.properties.numericType == nil }
        return words.first { word in
            (4...10).contains(word.count) && word.contains { $0.properties.numericType == .decimal }
        }.map { String($0) }
    }
}
