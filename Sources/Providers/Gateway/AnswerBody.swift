// SPDX-License-Identifier: Apache-2.0

import Verification

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
