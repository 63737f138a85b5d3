// SPDX-License-Identifier: Apache-2.0

/// A record on its way to a decision, with all that can be known before the database is asked.
///
/// A class, since it is large, never changes, and stands in many places of a batch.
package final class Candidate: Sendable {
    package indirect enum Content: Sendable {
        /// No request can be read: the record goes to the dead letters.
        case deadLetter(DeadLetterReason)

        /// A request whose fields break their rules, and what that comes to.
        case invalid(InvalidRequest, Refusal)

        /// A readable request, and what the rules without memory say of it.
        case request(VerificationRequest, Screening)
    }

    package let record: InboundRecord
    package let content: Content

    /// What the record is remembered by.
    ///
    /// A record without a readable request id is remembered by its own place.
    package let key: RequestKey

    package let place: RecordPlace

    /// Of the payload, keyed.
    package let digest: UUIDValue

    /// The ids of the verification and the send that this record may become; fresh for every attempt to decide it.
    package let verificationID: VerificationID
    package let sendID: SendID

    /// All that the request may carry on with, whatever time it is decided at: what to lock and to read for it.
    package let possiblyPassed: [Screening.Passed]

    package init(
        record: InboundRecord,
        content: Content,
        key: RequestKey,
        digest: UUIDValue,
        verificationID: VerificationID,
        sendID: SendID
    ) {
        self.record = record
        self.content = content
        self.key = key
        place = RecordPlace(record)
        self.digest = digest
        self.verificationID = verificationID
        self.sendID = sendID
        if case .request(_, let screening) = content {
            possiblyPassed = screening.possiblyPassed
        } else {
            possiblyPassed = []
        }
    }

    /// The same record as a dead letter, remembered by its place.
    package func deadLetter(_ reason: DeadLetterReason) -> Candidate {
        Candidate(
            record: record,
            content: .deadLetter(reason),
            key: .place(of: record),
            digest: digest,
            verificationID: verificationID,
            sendID: sendID
        )
    }

    /// The refusal of a request that does not get as far as its request id: tenant, shape and number come before.
    package var refusalBeforeID: Refusal? {
        switch content {
        case .invalid(_, let refusal): refusal
        case .request(_, .refused(let refusal)) where refusal.comesBeforeID: refusal
        case .deadLetter, .request: nil
        }
    }

    /// The hints that were left out of its request, by their fields.
    package var unreadHints: [String] {
        guard case .request(let request, _) = content else { return [] }
        return request.unreadHints
    }

    /// The trace that the record belongs to.
    package var trace: TraceContext? {
        switch content {
        case .deadLetter: nil
        case .invalid(let invalid, _): invalid.trace
        case .request(let request, _): request.trace
        }
    }

    /// What the request carries on with, when the rules without memory let it get that far.
    package var passed: Screening.Passed? {
        guard case .request(_, .passed(let passed)) = content else { return nil }
        return passed
    }

    /// The same when what depends on the time of the decision is decided.
    ///
    /// The time is the database's, so that no worker's clock refuses what another lets through.
    package func at(_ now: Timestamp) -> Candidate {
        guard case .request(let request, let screening) = content else { return self }
        let current = screening.at(now)
        guard request.isFromFuture(at: now), !current.isOfUnknownTenant else {
            if case .testNumber = screening { return with(.request(request, current)) }
            return self
        }
        let invalid = InvalidRequest(request, field: "requestedAt")
        return with(.invalid(invalid, Refusal(.invalidRequest, rule: "shape.requestedAt", field: "requestedAt")))
    }

    private func with(_ content: Content) -> Candidate {
        Candidate(
            record: record,
            content: content,
            key: key,
            digest: digest,
            verificationID: verificationID,
            sendID: sendID
        )
    }
}
