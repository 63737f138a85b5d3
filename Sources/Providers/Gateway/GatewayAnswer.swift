// SPDX-License-Identifier: Apache-2.0

import Verification

/// A gateway's answers as outcomes, by the operator's rules and then by the status.
struct GatewayAnswer {
    let configuration: GatewayConfiguration
    let recipient: PhoneNumber

    func classify(_ answer: HTTPAnswer) -> ProviderAnswer {
        let document = answer.json
        let rule = configuration.answers.first { $0.covers(status: answer.status, document) }
        let messageID = word(at: configuration.messageID, in: document, AnswerWord.messageID)
        let errorCode = word(at: configuration.errorCode, in: document, AnswerWord.errorCode)
        let isSuccess = (200...299).contains(answer.status)
        switch rule?.outcome ?? (isSuccess && messageID != nil ? .accepted : answer.outcome) {
        case .accepted:
            return ProviderAnswer(.accepted, messageID: messageID, segments: segments(in: document))
        case let outcome:
            let plain = answer.plainAnswer
            let code = errorCode ?? (rule == nil ? plain.errorCode : "http_\(answer.status)")
            return ProviderAnswer(outcome, messageID: messageID, errorCode: code, retryAfter: plain.retryAfter)
        }
    }

    /// A word that may be kept; none that repeats the number, as a path to the wrong member would find.
    private func word(at path: AnswerPath?, in document: JSONObject?, _ rule: (String) -> String?) -> String? {
        guard let path, let document, let word = path.value(in: document)?.word.flatMap(rule) else { return nil }
        return word.contains(recipient.e164.dropFirst()) ? nil : word
    }

    private func segments(in document: JSONObject?) -> Int? {
        let text = configuration.segments.flatMap { path in document.flatMap(path.value)?.word }
        return text.flatMap { Int($0) }.flatMap { (1...100).contains($0) ? $0 : nil }
    }
}
