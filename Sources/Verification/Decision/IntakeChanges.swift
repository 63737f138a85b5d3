// SPDX-License-Identifier: Apache-2.0

/// What the decisions of a batch change in the database, and what follows from them.
package struct IntakeChanges: Sendable {
    package var insertedVerifications: [StoredVerification] = []
    package var updatedVerifications: [StoredVerification] = []

    /// Requests whose row differs from the one written before the decision.
    package var requests: [RequestKey: KnownRequest] = [:]

    /// Slots that point to another verification than before.
    package var slots: [SlotKey: VerificationID] = [:]

    /// Windows with the admissions of this batch, and when each may be forgotten.
    package var windows: [LimitKey: (window: LimitWindow, expiry: Timestamp)] = [:]

    /// Admissions of this batch by tenant.
    package var admissions: [String: Int] = [:]

    /// The new sends, each claimed by the deciding worker.
    package var sends: [ClaimedSend] = []

    /// What to publish, in the order of the decisions.
    package var outbox: [OutboxRecord] = []

    package init() {}
}

/// A send that this worker holds: what it needs to hand the message over.
///
/// A class, since it is large, never changes, and goes from stage to stage.
package final class ClaimedSend: Sendable {
    package let reference: SendReference
    package let tenant: String
    package let purpose: Purpose

    /// Of a phone number.
    package let region: Region?
    package let recipient: Recipient
    package let credential: Credential
    package let rendering: Rendering

    /// Where the link of an e-mail leads.
    package let actionCode: RequestActionCode?

    /// After it the message is never handed over.
    package let deadline: Timestamp

    /// What was left until then at the moment of the claim.
    package let timeLeft: Duration

    /// What is left of the credential's validity at the moment of the claim.
    package let validityLeft: Duration

    /// The same of the code beside a link; nil without a link.
    ///
    /// It may be over: then only the link is worth sending.
    package let shortCodeLeft: Duration?
    package let generation: Int32

    /// Calls to providers made for this send before.
    package let attempts: Int16

    /// A send to a test number: no provider is called.
    package let isFictional: Bool

    /// The one more attempt after an unknown outcome.
    package let isRepeat: Bool

    /// The providers that have taken an earlier message of the verification, or may have.
    package let usedProviders: [String]

    /// The verification as the claim left it, where that is known.
    package let verification: StoredVerification?

    package init(
        reference: SendReference,
        tenant: String,
        purpose: Purpose,
        region: Region?,
        recipient: Recipient,
        credential: Credential,
        rendering: Rendering,
        actionCode: RequestActionCode? = nil,
        deadline: Timestamp,
        timeLeft: Duration,
        validityLeft: Duration,
        shortCodeLeft: Duration? = nil,
        generation: Int32,
        attempts: Int16,
        isFictional: Bool,
        isRepeat: Bool = false,
        usedProviders: [String] = [],
        verification: StoredVerification? = nil
    ) {
        self.verification = verification
        self.reference = reference
        self.tenant = tenant
        self.purpose = purpose
        self.region = region
        self.recipient = recipient
        self.credential = credential
        self.rendering = rendering
        self.actionCode = actionCode
        self.deadline = deadline
        self.timeLeft = timeLeft
        self.validityLeft = validityLeft
        self.shortCodeLeft = shortCodeLeft
        self.generation = generation
        self.attempts = attempts
        self.isFictional = isFictional
        self.isRepeat = isRepeat
        self.usedProviders = usedProviders
    }

    package var id: SendID { reference.id }

    /// The link of an e-mail.
    package var link: ActionLink? {
        guard case .link(let token, _) = credential, let actionCode else { return nil }
        return ActionLink(
            token: token,
            verification: reference.verificationID,
            tenant: tenant,
            purpose: purpose,
            language: rendering.language,
            actionCode: actionCode
        )
    }
}

/// One claim of a send: what is needed to settle it.
package struct SendReference: Sendable, Equatable {
    package let id: SendID
    package let verificationID: VerificationID

    /// The fencing token: a write that names an older one changes nothing.
    package let fence: Int32

    /// 1, 2, … within the verification.
    package let number: Int16
    package let requestID: String
    package let resendWindow: Duration

    /// Fresh validity from the moment of this send; nil when it repeats a code.
    package let validity: Duration?
    package let trace: TraceContext?

    /// When the request's record was appended to its topic; only the worker that decided knows it.
    package let appendedAt: Timestamp?

    package init(
        id: SendID,
        verificationID: VerificationID,
        fence: Int32,
        number: Int16,
        requestID: String,
        resendWindow: Duration,
        validity: Duration?,
        trace: TraceContext?,
        appendedAt: Timestamp? = nil
    ) {
        self.id = id
        self.verificationID = verificationID
        self.fence = fence
        self.number = number
        self.requestID = requestID
        self.resendWindow = resendWindow
        self.validity = validity
        self.trace = trace
        self.appendedAt = appendedAt
    }

    /// Whether both are the same claim, whichever worker speaks of it: only one knows `appendedAt`.
    package static func == (left: SendReference, right: SendReference) -> Bool {
        left.id == right.id && left.verificationID == right.verificationID && left.fence == right.fence
            && left.number == right.number && left.requestID == right.requestID
            && left.resendWindow == right.resendWindow && left.validity == right.validity && left.trace == right.trace
    }

    /// The claim after this one.
    package var reclaimed: SendReference {
        SendReference(
            id: id,
            verificationID: verificationID,
            fence: fence &+ 1,
            number: number,
            requestID: requestID,
            resendWindow: resendWindow,
            validity: validity,
            trace: trace,
            appendedAt: appendedAt
        )
    }
}

/// A record to publish, written with the change that it tells.
///
/// It describes itself by its place: a dead letter's value may hold anything. A class, since it is large, never changes,
/// and goes from stage to stage.
package final class OutboxRecord: Sendable, Equatable, Redacted {
    /// The verification, or an id made from the record that was refused.
    package let stream: UUIDValue
    package let sequence: Int32
    package let isDeadLetter: Bool
    package let key: [UInt8]?
    package let value: [UInt8]?
    package let headers: [RecordField]

    /// Bytes of value and headers.
    package let size: Int

    /// For the statistics of the worker that decided; not part of what is stored and published.
    package let summary: EventSummary?

    /// The database whose outbox holds it, counted from 0.
    package let shard: UInt8

    package var description: String { "record \(stream)-\(sequence)" }

    package init(
        stream: UUIDValue,
        sequence: Int32,
        isDeadLetter: Bool,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: [RecordField],
        summary: EventSummary? = nil,
        shard: UInt8 = 0
    ) {
        self.stream = stream
        self.sequence = sequence
        self.isDeadLetter = isDeadLetter
        self.key = key
        self.value = value
        self.headers = headers
        size = headers.reduce((key?.count ?? 0) + (value?.count ?? 0)) { $0 + $1.size }
        self.summary = summary
        self.shard = shard
    }

    /// The same in the outbox of another database.
    package func held(by shard: Int) -> OutboxRecord {
        OutboxRecord(
            stream: stream,
            sequence: sequence,
            isDeadLetter: isDeadLetter,
            key: key,
            value: value,
            headers: headers,
            summary: summary,
            shard: UInt8(clamping: shard)
        )
    }

    /// Whether both are the same record, wherever they come from.
    package static func == (left: OutboxRecord, right: OutboxRecord) -> Bool {
        left.stream == right.stream && left.sequence == right.sequence && left.isDeadLetter == right.isDeadLetter
            && left.key == right.key && left.value == right.value && left.headers == right.headers
    }
}
