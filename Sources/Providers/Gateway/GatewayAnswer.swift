// SPDX-License-Identifier: Apache-2.0

import Verification

/// A gateway's answers as outcomes, by the operator's rules and then by the status.
struct GatewayAnswer {
    let configuration: GatewayConfiguration

    func classify(_ answer: HTTPAnswer) -> ProviderAnswer {
        if configuration.answers.contains(where: \.readsBody), let inDoubt = answer.answerInDoubt { return inDoubt }
        let document = answer.document
        let rule = configuration.answers.first { $0.covers(status: answer.status, document) }
        let messageID = word(at: configuration.messageID, in: document).flatMap(AnswerWord.messageID)
        switch rule?.outcome ?? answer.outcome {
        case .accepted:
            return ProviderAnswer(.accepted, messageID: messageID, segments: segments(in: document))
        case let outcome:
            let code = word(at: configuration.errorCode, in: document).flatMap(AnswerWord.errorCode)
            return ProviderAnswer(
                outcome,
                messageID: messageID,
                errorCode: code ?? "http_\(answer.status)",
                retryAfter: answer.retryAfter,
                // What cannot be understood beside a success is nothing against the gateway.
                isOfMessage: answer.isSuccess && outcome == .unknown
            )
        }
    }

    private func word(at path: AnswerPath?, in document: JSONValue?) -> String? {
        path.flatMap { path in document.flatMap(path.value)?.word }
    }

    private func segments(in document: JSONValue?) -> Int? {
        word(at: configuration.segments, in: document).flatMap { Int($0) }.flatMap { (1...100).contains($0) ? $0 : nil }
    }
}
