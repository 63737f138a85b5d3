// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The stateless rules: tenant, shape, the channel's rules for number or address, app verification.
///
/// They run in the order of the decision, so the event names the first rule that refuses.
package struct Screener: Sendable {
    private let policy: Policy
    private let keys: CodeKeys
    private let numbers: any NumberDirectory
    private let cell: UInt8

    /// Creates a screener whose candidates' ids name a cell.
    package init(policy: Policy, keys: CodeKeys, numbers: any NumberDirectory, cell: UInt8 = 0) {
        self.policy = policy
        self.keys = keys
        self.numbers = numbers
        self.cell = cell
    }

    /// Reads and screens one record.
    ///
    /// `now` is the worker's time and is used for new ids only: rules that depend on time are decided later, by the
    /// database's clock.
    package func candidate(
        for record: InboundRecord,
        now: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> Candidate {
        let verificationID = VerificationID(.version7(at: now, using: &generator).inCell(cell))
        let sendID = SendID(.version7(at: now, using: &generator).inCell(cell))
        func candidate(_ content: Candidate.Content, _ key: RequestKey, _ payload: UUIDValue) -> Candidate {
            Candidate(
                record: record,
                content: content,
                key: key,
                digest: payload,
                verificationID: verificationID,
                sendID: sendID
            )
        }
        switch VerificationRequest.read(record) {
        case .deadLetter(let reason):
            return candidate(.deadLetter(reason), .place(of: record), keys.digest(of: record.value ?? []))
        case .invalid(let invalid):
            // Request ids are unique per tenant, so without a readable tenant the record's place is the key.
            let key: RequestKey =
                invalid.field == "tenant"
                ? .place(of: record) : RequestKey(tenant: invalid.tenant, requestID: invalid.requestID)
            return candidate(.invalid(invalid, refusal(of: invalid)), key, keys.digest(of: record.value ?? []))
        case .request(let request):
            let key = RequestKey(tenant: request.tenant, requestID: request.requestID)
            return candidate(.request(request, screen(request)), key, keys.digest(of: request))
        }
    }

    /// Applies the rules in order.
    ///
    /// `observe` is called with each step and its verdict; `policy explain` prints them.
    package func screen(
        _ request: VerificationRequest,
        observing observe: (ScreeningStep, RuleVerdict) -> Void = { _, _ in }
    ) -> Screening {
        guard let tenant = policy.tenants[request.tenant] else {
            observe(.tenant, .refuses(Self.unknownTenant))
            return .refused(Self.unknownTenant)
        }
        observe(.tenant, .passes)
        observe(.channel, .passes)
        guard case .phone(let number) = request.recipient else {
            return apply(Screener.rules(for: request.channel), request, tenant, nil, observe)
        }
        let facts = policy.numberPlan.facts(of: number) { numbers.facts(of: number) }
        observe(.testNumber, .passes)
        func ordinary() -> Screening { apply(Screener.rules(for: .sms), request, tenant, facts, observe) }
        guard let testNumber = tenant.testNumbers.first(where: { $0.number == number }) else { return ordinary() }
        let fictional = passed(request, tenant, facts, testNumber: testNumber)
        return testNumber.until.map { .testNumber(fictional, until: $0, then: ordinary()) } ?? .passed(fictional)
    }

    private func apply(
        _ rules: [NamedRule],
        _ request: VerificationRequest,
        _ tenant: TenantPolicy,
        _ facts: NumberFacts?,
        _ observe: (ScreeningStep, RuleVerdict) -> Void
    ) -> Screening {
        var notes: [String] = []
        for rule in rules {
            let verdict = rule.apply(request, facts, tenant)
            observe(rule.step, verdict)
            switch verdict {
            case .passes: continue
            case .isNoted(let note): notes.append(note)
            case .refuses(let refusal): return .refused(refusal)
            }
        }
        return .passed(passed(request, tenant, facts, notes: notes))
    }

    private func refusal(of invalid: InvalidRequest) -> Refusal {
        guard invalid.field == "tenant" || policy.tenants[invalid.tenant] != nil else { return Self.unknownTenant }
        return Refusal(invalid.reason, rule: "shape.\(invalid.field)", field: invalid.field)
    }

    private static let unknownTenant = Refusal(.unknownTenant, rule: "tenant", field: "tenant")

    private func passed(
        _ request: VerificationRequest,
        _ tenant: TenantPolicy,
        _ facts: NumberFacts?,
        testNumber: TestNumber? = nil,
        notes: [String] = []
    ) -> Screening.Passed {
        let fingerprint = keys.fingerprint(of: request.recipient)
        let owners = policy.limitOwners[request.tenant] ?? LimitOwners(tenant: request.tenant)
        let slot = SlotKey(
            tenant: request.tenant,
            purpose: request.purpose,
            fingerprint: fingerprint,
            owners.recipient
        )
        // A window that no limit counts gets no row: other batches would wait for its lock.
        func isCounted(by limits: [RateLimit]) -> Bool { testNumber == nil && !limits.isEmpty }
        let limits = tenant.limits
        let ip = isCounted(by: limits.perIP) ? request.client?.ip : nil
        let subject = isCounted(by: limits.perSubject) ? request.subject : nil
        let device = isCounted(by: limits.perDevice) ? request.client?.deviceID : nil
        let windows = LimitKeys(
            recipient: isCounted(by: limits.perRecipient) ? slot.person : nil,
            ip: ip.map { LimitKey(owners.ip, keys.digest(of: $0)) },
            subject: subject.map { LimitKey(owners.subject, keys.digest(of: $0, in: .subject)) },
            device: device.map { LimitKey(owners.device, keys.digest(of: $0, in: .device)) }
        )
        return Screening.Passed(
            slot: slot,
            region: facts?.region,
            tenant: tenant,
            limits: windows,
            testNumber: testNumber,
            notes: notes,
            brakeKeys: testNumber == nil ? brakeKeys(request) : nil,
            charge: testNumber == nil ? policy.charge(request, tenant, to: facts?.region) : nil
        )
    }

    private func brakeKeys(_ request: VerificationRequest) -> BrakeKeys? {
        guard case .phone(let number) = request.recipient else { return nil }
        return BrakeKeys(
            of: number,
            from: request.client?.ip,
            isConfirmed: request.recipientConfirmed,
            by: keys.brake
        )
    }
}
