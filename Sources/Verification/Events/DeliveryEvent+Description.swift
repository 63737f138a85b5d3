// SPDX-License-Identifier: Apache-2.0

extension DeliveryEvent.Description {
    init(_ invalid: InvalidRequest) {
        self.init(
            requestID: invalid.requestID,
            tenant: invalid.tenant,
            channel: invalid.channel,
            purpose: invalid.purpose,
            subject: invalid.subject,
            trace: invalid.trace
        )
    }

    init(_ request: VerificationRequest, keys: CodeKeys) {
        self.init(
            requestID: request.requestID,
            tenant: request.tenant,
            channel: request.channel,
            purpose: request.purpose,
            subject: request.subject,
            masked: request.recipient.masked,
            fingerprint: keys.fingerprint(of: request.recipient),
            trace: request.trace
        )
    }

    init(_ candidate: Candidate, keys: CodeKeys) {
        switch candidate.content {
        case .deadLetter:
            self.init(requestID: candidate.key.requestID, tenant: candidate.key.tenant, channel: nil, purpose: nil)
        case .invalid(let invalid, _):
            self.init(invalid)
        case .request(let request, let screening):
            self.init(request, keys: keys)
            switch screening {
            case .passed(let passed): region = passed.region
            case .refused(let refusal): region = refusal.region
            case .testNumber(let passed, _, _): region = passed.region
            }
        }
    }

    func `in`(_ region: Region?) -> Self {
        var copy = self
        copy.region = region ?? copy.region
        return copy
    }
}
