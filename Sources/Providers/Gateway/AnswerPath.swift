// SPDX-License-Identifier: Apache-2.0

import Verification

/// The place of a value in a JSON answer: names of members and numbers of elements, with dots between (`messages.0.id`).
package struct AnswerPath: Sendable, Hashable {
    private let steps: [String]

    /// Nil for an empty path or step, or more than 16 steps.
    package init?(_ text: String) {
        let steps = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard (1...16).contains(steps.count), steps.allSatisfy({ !$0.isEmpty }) else { return nil }
        self.steps = steps
    }

    /// The value at the place; nil when there is none.
    func value(in document: JSONValue) -> JSONValue? {
        steps.reduce(document) { (value: JSONValue?, step) in
            switch value {
            case .object(let object): object[step]
            case .array(let elements): Int(step).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
            default: nil
            }
        }
    }
}
