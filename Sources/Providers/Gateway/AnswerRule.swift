// SPDX-License-Identifier: Apache-2.0

import Formats
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

/// The body of a gateway's answer, for rules and paths: JSON, XML or plain text.
struct AnswerBody {
    /// The body as text; empty when the body was cut.
    let text: String
    private let document: JSONValue?
    private let xml: XMLScan?

    init(_ answer: HTTPAnswer) {
        let content = answer.content ?? []
        text = String(decoding: content, as: UTF8.self)
        let start = text.unicodeScalars.first { !$0.properties.isWhitespace && $0 != "\u{FEFF}" }
        xml = start == "<" ? XMLScan(content) : nil
        document = xml == nil ? answer.document : nil
    }

    /// The value at a path: a string as it is, a number as spelt, `true` or `false`; nil where there is none.
    func word(at path: AnswerPath) -> String? {
        if let xml { return xml.text(in: path.steps) }
        return switch document.flatMap(path.value) {
        case .bool(let flag)?: String(flag)
        case let value?: value.word
        case nil: nil
        }
    }
}
