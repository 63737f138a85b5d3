// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Verification

extension ProviderClient {
    /// Reports one message as used, in one call.
    func report(_ request: ProviderRequest, _ form: FormBody, within deadline: Duration) async -> ProviderAnswer {
        let leaveBy = ContinuousClock.now + deadline
        let result = await exchange(request, form.bytes, within: deadline, leaveBy: leaveBy, trace: nil)
        return result.providerAnswer(to: nil, HTTPAnswer.feedback)
    }
}

extension HTTPAnswer {
    /// The answer to a report, by its status alone; a refusal of one message says nothing of the next.
    fileprivate static func feedback(_ answer: HTTPAnswer) -> ProviderAnswer {
        guard ofMessage.contains(answer.status) else { return answer.plainAnswer }
        return answer.answer(.refused, code: "http_\(answer.status)", isOfMessage: true)
    }

    /// The statuses for an id that the provider does not know, or no longer; of Vonage 420, 422 and 423.
    private static let ofMessage: Set = [400, 404, 409, 410, 420, 422, 423]
}
