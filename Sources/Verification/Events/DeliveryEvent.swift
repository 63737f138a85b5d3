// SPDX-License-Identifier: Apache-2.0

/// One event on `verification.deliveries`: what was decided about a request, or what became of its message.
///
/// It carries no code, number or address: the recipient is masked, and identified by its keyed fingerprint.
package struct DeliveryEvent: Sendable, Equatable {
    /// The CloudEvents type.
    package static let type = "com.codecourier.verification.delivery.v1"

    package let description: Description
    package let verification: Verification?
    package let status: DeliveryStatus
    package let reason: String?
    package let rule: String?

    /// The field at fault of a request that breaks its contract.
    package let field: String?
    package let send: Send?
    package let policyVersion: String
    package let occurredAt: Timestamp

    /// Whom and what the event is about.
    package struct Description: Sendable, Equatable {
        package let requestID: String
        package let tenant: String
        package let channel: Channel?
        package let purpose: Purpose?
        package var masked: String?
        package var region: Region?
        package var fingerprint: [UInt8]?
        package var trace: TraceContext?

        package init(
            requestID: String,
            tenant: String,
            channel: Channel?,
            purpose: Purpose?,
            masked: String? = nil,
            region: Region? = nil,
            fingerprint: [UInt8]? = nil,
            trace: TraceContext? = nil
        ) {
            self.requestID = requestID
            self.tenant = tenant
            self.channel = channel
            self.purpose = purpose
            self.masked = masked
            self.region = region
            self.fingerprint = fingerprint
            self.trace = trace
        }
    }

    /// What the event tells of its verification.
    package struct Verification: Sendable, Equatable {
        package let id: VerificationID
        package let sequence: Int32
        package let codeLength: Int16?
        package let generation: Int32
        package let resendAfter: Timestamp
        package let expiresAt: Timestamp
        package let sendsLeft: Int16
        package let isFictional: Bool
    }

    /// What the event tells of the send it is about.
    package struct Send: Sendable, Equatable {
        package let id: SendID
        package let number: Int16
        package let max: Int16
        package var provider: String?
        package var providerMessageID: String?
        package var segments: Int?
        package var encoding: String?
        package var errorCode: String?

        package init(
            id: SendID,
            number: Int16,
            max: Int16,
            provider: String? = nil,
            providerMessageID: String? = nil,
            segments: Int? = nil,
            encoding: String? = nil,
            errorCode: String? = nil
        ) {
            self.id = id
            self.number = number
            self.max = max
            self.provider = provider
            self.providerMessageID = providerMessageID
            self.segments = segments
            self.encoding = encoding
            self.errorCode = errorCode
        }
    }

    /// An event of a decision without a verification.
    package init(
        describing description: Description,
        status: DeliveryStatus,
        reason: String,
        rule: String,
        field: String? = nil,
        policyVersion: String,
        occurredAt: Timestamp
    ) {
        self.description = description
        verification = nil
        self.status = status
        self.reason = reason
        self.rule = rule
        self.field = field
        send = nil
        self.policyVersion = policyVersion
        self.occurredAt = occurredAt
    }

    /// An event of a verification whose `sequence` has been raised for it.
    package init(
        of verification: StoredVerification,
        requestID: String,
        status: DeliveryStatus,
        reason: String? = nil,
        rule: String? = nil,
        send: Send? = nil,
        trace: TraceContext? = nil,
        policyVersion: String,
        occurredAt: Timestamp
    ) {
        description = Description(
            requestID: requestID,
            tenant: verification.tenant,
            channel: verification.channel,
            purpose: verification.purpose,
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
        self.rule = rule
        field = nil
        self.send = send
        self.policyVersion = policyVersion
        self.occurredAt = occurredAt
    }
}
