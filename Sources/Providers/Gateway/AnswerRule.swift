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

/// Maps a gateway's answers to outcomes, by the operator's rules and then by the status.
struct GatewayAnswer {
    let configuration: GatewayConfiguration

    func classify(_ answer: HTTPAnswer) -> ProviderAnswer {
        if configuration.answers.contains(where: \.readsBody), let inDoubt = answer.answerInDoubt { return inDoubt }
        let body = AnswerBody(answer)
        let rule = configuration.answers.first { $0.covers(status: answer.status, body) }
        let messageID = word(configuration.messageID, body).flatMap(AnswerWord.messageID)
        switch rule?.outcome ?? answer.outcome {
        case .accepted:
            return ProviderAnswer(.accepted, messageID: messageID, segments: segments(body))
        case let outcome:
            let code = word(configuration.errorCode, body).flatMap(AnswerWord.errorCode)
            return ProviderAnswer(
                outcome,
                messageID: messageID,
                errorCode: code ?? "http_\(answer.status)",
                retryAfter: answer.retryAfter,
                // An unclear body with a success status does not count against the gateway.
                isOfMessage: answer.isSuccess && outcome == .unknown
            )
        }
    }

    private func word(_ place: GatewayConfiguration.Place?, _ body: AnswerBody) -> String? {
        switch place {
        case .path(let path): body.word(at: path)
        case .pattern(let pattern): pattern.word(in: body.text)
        case nil: nil
        }
    }

    private func segments(_ body: AnswerBody) -> Int? {
        configuration.segments.flatMap(body.word).flatMap { Int($0) }.flatMap { (1...100).contains($0) ? $0 : nil }
    }
}
