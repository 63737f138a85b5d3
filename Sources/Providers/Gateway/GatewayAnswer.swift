// SPDX-License-Identifier: Apache-2.0

import Verification

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
