// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// The path of a value in a JSON or XML answer.
///
/// Names of members or elements, and indexes of list entries, separated by dots (`messages.0.id`, `0.id`,
/// `response.id`).
package struct AnswerPath: Sendable, Hashable {
    let steps: [String]

    /// Parses a path; nil for an empty path or step, for more than 16 steps, and for other notations, which would never
    /// match.
    ///
    /// Such notations are `$.id`, `ids[0]`, `/data/id`, `*`, `id.text()`, `{id}`, `items.#.id`, `data?.id` and
    /// `ids.-1`.
    package init?(_ text: String) {
        let steps = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard (1...16).contains(steps.count), steps.allSatisfy(Self.isName) else { return nil }
        self.steps = steps
    }

    private static func isName(_ step: String) -> Bool {
        !step.isEmpty && step != "$" && Int(step).map { $0 >= 0 } ?? true
            && step.unicodeScalars.allSatisfy { scalar in
                !scalar.properties.isWhitespace && !"[](){}<>/*?#|,;=\"'\\".unicodeScalars.contains(scalar)
            }
    }

    /// The value at the path; nil when there is none.
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
