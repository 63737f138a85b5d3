// SPDX-License-Identifier: Apache-2.0

/// A regular expression that an answer's text is searched for, such as `^ERR` or `ID: ([0-9]+)`.
package struct AnswerPattern: Sendable {
    /// So much of an answer is searched: an expression may take long over a long text.
    private static let longestText = 4096

    // SAFETY: a compiled expression is a value that never changes, and a search keeps nothing in it.
    private nonisolated(unsafe) let expression: Regex<AnyRegexOutput>

    /// Nil for what is no expression.
    package init?(_ text: String) {
        guard !text.isEmpty, let expression = try? Regex(text) else { return nil }
        // As other engines: otherwise CR LF is one character, which no \n matches.
        self.expression = expression.matchingSemantics(.unicodeScalar)
    }

    func matches(_ text: String) -> Bool {
        match(in: text) != nil
    }

    /// What the first group matched, or without a group the whole expression.
    func word(in text: String) -> String? {
        guard let match = match(in: text) else { return nil }
        return (match.output.count > 1 ? match.output[1] : match.output[0]).substring.map(String.init)
    }

    private func match(in text: String) -> Regex<AnyRegexOutput>.Match? {
        try? expression.firstMatch(in: text.prefix(Self.longestText))
    }
}
