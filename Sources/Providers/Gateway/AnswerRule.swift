// SPDX-License-Identifier: Apache-2.0

package import Verification

/// One rule for answers: `{ status: 200-299, match: { result: "0" }, outcome: accepted }`.
package struct AnswerRule: Sendable {
    package let statuses: ClosedRange<Int>

    /// The values that the answer must contain: strings and numbers by their text, and `true` and `false`.
    package let match: [AnswerPath: String]

    /// A text that the answer must contain.
    package let text: String?
    package let pattern: AnswerPattern?
    package let outcome: ProviderOutcome

    package init(
        statuses: ClosedRange<Int>,
        match: [AnswerPath: String] = [:],
        text: String? = nil,
        pattern: AnswerPattern? = nil,
        outcome: ProviderOutcome
    ) {
        self.statuses = statuses
        self.match = match
        self.text = text
        self.pattern = pattern
        self.outcome = outcome
    }

    /// True when the rule needs the answer's body.
    var readsBody: Bool { !match.isEmpty || text != nil || pattern != nil }

    func covers(status: Int, _ body: AnswerBody) -> Bool {
        statuses.contains(status)
            && match.allSatisfy { path, expected in body.word(at: path) == expected }
            && text.map { body.text.unicodeScalars.contains($0.unicodeScalars) } ?? true
            && pattern.map { $0.matches(body.text) } ?? true
    }
}
