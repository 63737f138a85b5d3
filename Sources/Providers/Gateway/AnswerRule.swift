// SPDX-License-Identifier: Apache-2.0

package import Verification

/// What one kind of answer means: `{ status: 200-299, match: { result: "0" }, outcome: accepted }`.
package struct AnswerRule: Sendable {
    package let statuses: ClosedRange<Int>

    /// The values that the answer must have: strings and numbers by their text, and `true` and `false`.
    package let match: [AnswerPath: String]

    /// What must stand somewhere in its text.
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

    /// Whether it cannot be told by the status alone.
    var readsBody: Bool { !match.isEmpty || text != nil || pattern != nil }

    func covers(status: Int, _ body: AnswerBody) -> Bool {
        statuses.contains(status)
            && match.allSatisfy { path, expected in body.word(at: path) == expected }
            && text.map { body.text.unicodeScalars.contains($0.unicodeScalars) } ?? true
            && pattern.map { $0.matches(body.text) } ?? true
    }
}
