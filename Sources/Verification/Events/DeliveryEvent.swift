// SPDX-License-Identifier: Apache-2.0

import Formats

/// One event on `verification.deliveries`: a decision about a request, or what became of its message or verification.
///
/// It carries no code, number or address: the recipient is masked, and identified by its keyed fingerprint.
struct DeliveryEvent: Sendable, Equatable {
    static let type = CloudEventType.delivery.rawValue

    let description: Description
    let verification: Verification?
    let status: DeliveryStatus
    let reason: EventReason?

    /// The reason of the repeated status, if it has one.
    let originalReason: String?

    /// The time from which a new request may get a send, as far as this decision can tell.
    let retryAfter: Timestamp?
    let rule: String?

    /// The invalid field of a request that breaks its contract.
    let field: String?
    let send: Send?

    /// The price of a message that a provider took, where the policy has it.
    let cost: Cost?
    let policyVersion: String
    let occurredAt: Timestamp

    /// The request and the recipient of the event.
    struct Description: Sendable, Equatable {
        let requestID: String
        let tenant: String
        let channel: Channel?
        let purpose: Purpose?

        /// The account, as the request gave it.
        var subject: String?
        var masked: String?
        var region: Region?
        var fingerprint: [UInt8]?
        var trace: TraceContext?
    }

    struct Verification: Sendable, Equatable {
        let id: VerificationID
        let sequence: Int32
        let codeLength: Int16?
        let generation: Int32
        let resendAfter: Timestamp
        let expiresAt: Timestamp
        let sendsLeft: Int16
        let isFictional: Bool
    }

    struct Send: Sendable, Equatable {
        let id: SendID
        let number: Int16
        let max: Int16
        var provider: String?
        var providerMessageID: String?
        var segments: Int?
        var encoding: String?
        var errorCode: String?
    }

    /// Creates the event of a decision without a verification.
    init(
        describing description: Description,
        status: DeliveryStatus,
        reason: EventReason,
        originalReason: String? = nil,
        retryAfter: Timestamp? = nil,
        rule: String,
        field: String? = nil,
        policyVersion: String,
        occurredAt: Timestamp
    ) {
        self.description = description
        verification = nil
        self.status = status
        self.reason = reason
        self.originalReason = originalReason
        self.retryAfter = retryAfter
        self.rule = rule
        self.field = field
        send = nil
        cost = nil
        self.policyVersion = policyVersion
        self.occurredAt = occurredAt
    }

    /// Creates an event of a verification whose `sequence` was already incremented for it.
    init(
        of verification: StoredVerification,
        requestID: String,
        subject: String?,
        status: DeliveryStatus,
        reason: EventReason? = nil,
        originalReason: String? = nil,
        retryAfter: Timestamp? = nil,
        rule: String? = nil,
        send: Send? = nil,
        cost: Cost? = nil,
        trace: TraceContext? = nil,
        policyVersion: String,
        occurredAt: Timestamp
    ) {
        description = Description(
            requestID: requestID,
            tenant: verification.tenant,
            channel: verification.channel,
            purpose: verification.purpose,
            subject: subject,
            masked: verification.masked,
            region: verification.region,
            fingerprint: verification.fingerprint,
            trace: trace
        )
        self.verification = Verification(
            id: verification.id,
            sequence: verification.sequence,
            codeLength: verification.codeLength,
            generation: verification.generation,
            resendAfter: verification.resendAfter,
            expiresAt: verification.expiresAt,
            sendsLeft: max(0, verification.maxSends - verification.sendsUsed),
            isFictional: verification.isFictional
        )
        self.status = status
        self.reason = reason
        self.originalReason = originalReason
        self.retryAfter = retryAfter
        self.rule = rule
        field = nil
        self.send = send
        self.cost = cost
        self.policyVersion = policyVersion
        self.occurredAt = occurredAt
    }
}

/// The `status` of a delivery event.
package enum DeliveryStatus: String, Sendable, Hashable, CaseIterable {
    case sent
    case delivered
    case undelivered
    case suppressed
    case rejected
    case expiredUnsent = "expired_unsent"
    case failed
    case unknown
    case expired

    // Written by the verifier's function `courier.check_code`, with `events.approved`.
    case approved
    case locked

    /// True for the end of a verification: later news of its messages never replace it.
    var isEnd: Bool {
        switch self {
        case .approved, .locked, .expired: true
        case .sent, .delivered, .undelivered, .suppressed, .rejected, .expiredUnsent, .failed, .unknown: false
        }
    }
}

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
