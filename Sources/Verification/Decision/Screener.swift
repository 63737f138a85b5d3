// SPDX-License-Identifier: Apache-2.0

/// The rules that need no memory: tenant, shape, number, region, type of number, app verification.
///
/// Their order is that of the decision, so that the first rule to refuse is the one the event names.
package struct Screener: Sendable {
    private let policy: Policy
    private let keys: CodeKeys
    private let numbers: any NumberDirectory

    package init(policy: Policy, keys: CodeKeys, numbers: any NumberDirectory) {
        self.policy = policy
        self.keys = keys
        self.numbers = numbers
    }

    /// Reads and screens one record.
    ///
    /// `now` is the worker's clock, for `requestedAt` in the future and for new ids; what is too old to be sent is
    /// decided later, by the database's clock.
    package func candidate(
        for record: InboundRecord,
        now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> Candidate {
        let verificationID = VerificationID(.version7(at: now, using: &generator))
        let sendID = SendID(.version7(at: now, using: &generator))
        func candidate(_ content: Candidate.Content, _ key: RequestKey, _ payload: [UInt8]) -> Candidate {
            Candidate(
                record: record,
                content: content,
                key: key,
                digest: keys.digest(of: payload),
                verificationID: verificationID,
                sendID: sendID
            )
        }
        switch VerificationRequest.read(record, now: now) {
        case .deadLetter(let reason):
            let place = RequestKey(tenant: "", requestID: "\(record.source)/\(record.offset)")
            return candidate(.deadLetter(reason), place, record.value ?? [])
        case .invalid(let invalid):
            let key = RequestKey(tenant: invalid.tenant, requestID: invalid.requestID)
            return candidate(.invalid(invalid), key, record.value ?? [])
        case .request(let request):
            let key = RequestKey(tenant: request.tenant, requestID: request.requestID)
            return candidate(.request(request, screen(request)), key, request.payloadDigestInput)
        }
    }

    /// Applies the rules in order.
    package func screen(_ request: VerificationRequest) -> Screening {
        guard let tenant = policy.tenants[request.tenant] else {
            return .refused(Refusal(.unknownTenant, rule: "tenant", field: "tenant"))
        }
        guard case .phone(let number) = request.recipient else {
            return .refused(Refusal(.invalidRequest, rule: "channel", field: "channel"))
        }
        let facts = numbers.facts(of: number)
        guard facts.isValid else {
            return .refused(
                Refusal(
                    .invalidPhoneNumber,
                    rule: "number.plan",
                    field: "recipient.phoneNumber",
                    region: facts.region
                )
            )
        }
        let regions = tenant.regions(for: request.purpose)
        if let reason = regions.refusal(of: facts, confirmed: request.recipientConfirmed) {
            return .refused(Refusal(reason, rule: "region", region: facts.region))
        }
        // The rules of number types and of app verification stand here.
        return .passed(
            Screening.Passed(
                slot: SlotKey(
                    tenant: request.tenant,
                    purpose: request.purpose,
                    fingerprint: keys.fingerprint(of: request.recipient)
                ),
                region: facts.region,
                tenant: tenant
            )
        )
    }
}
