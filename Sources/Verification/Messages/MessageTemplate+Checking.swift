// SPDX-License-Identifier: Apache-2.0

extension MessageTemplate {
    /// Why a text is no template of an SMS, as the end of a sentence that begins with its key.
    package struct Flaw: Error, Sendable, Equatable, CustomStringConvertible {
        package let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    /// The longest template: more can never fit one segment.
    private static let maximumScalars = 160

    /// Reads a text of an operator's, by the rules for names in messages.
    ///
    /// The code stands in it once and apart from letters and digits, so that a person and a phone find it, and the
    /// operator's own words leave no second candidate.
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
        // What is put in a place may join its neighbours, as in `{appName}.com`: a letter stands for it.
        if let flaw = TextFlaw(of: self.text { _ in "x" }, points: TextFlaw.everyPoint.subtracting([0x3002])) {
            throw Flaw(flaw == .digits ? "\(flaw.rawValue): \(digits)" : flaw.rawValue)
        }
        if let word = CodeLikeWord.first(in: wordsBeforeCode) {
            throw Flaw("has \(word) before {code}, which phones could take for the code: write {code} before it")
        }
        guard codeStandsApart else { throw Flaw("must keep {code} apart from letters, digits and other places") }
    }

    /// True for a text with each of these places once, no other one and no other braces.
    func hasExactly(_ places: Set<Place>) -> Bool {
        !hasOtherBraces && Place.allCases.allSatisfy { count($0) == (places.contains($0) ? 1 : 0) }
    }

    private func count(_ place: Place) -> Int { pieces.count { $0 == .place(place) } }

    private var hasOtherBraces: Bool { words.contains { $0.contains { $0 == "{" || $0 == "}" } } }

    private var words: [String] {
        pieces.compactMap { if case .words(let words) = $0 { words } else { nil } }
    }

    /// The digits of the text in their groups, for a fault.
    private var digits: String {
        words.flatMap { $0.unicodeScalars.split { $0.properties.numericType != .decimal } }.map { String($0) }
            .joined(separator: ", ")
    }

    /// The words before the code, in which something else stands where the places are.
    private var wordsBeforeCode: String {
        pieces.prefix { $0 != .place(.code) }.reduce(into: "") { text, piece in
            if case .words(let words) = piece { text += words } else { text += " " }
        }
    }

    /// Whether no letter, digit or other place touches the code.
    var codeStandsApart: Bool {
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
