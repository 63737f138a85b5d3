// SPDX-License-Identifier: Apache-2.0

package import Verification

/// What one kind of answer means: `{ status: 200-299, match: { result: "0" }, outcome: accepted }`.
package struct AnswerRule: Sendable {
    package let statuses: ClosedRange<Int>

    /// The values that the answer must have: strings and numbers by their text, and `true` and `false`.
    package let match: [AnswerPath: String]
    package let outcome: ProviderOutcome

    package init(statuses: ClosedRange<Int>, match: [AnswerPath: String] = [:], outcome: ProviderOutcome) {
        self.statuses = statuses
        self.match = match
        self.outcome = outcome
    }

    /// Whether it cannot be told by the status alone.
    var readsBody: Bool { !match.isEmpty }

    func covers(status: Int, _ document: JSONValue?) -> Bool {
        guard statuses.contains(status) else { return false }
        return match.allSatisfy { path, expected in
            switch document.flatMap(path.value) {
            case .bool(let flag)?: String(flag) == expected
            case let value?: value.word == expected
            case nil: false
            }
        }
    }
}
