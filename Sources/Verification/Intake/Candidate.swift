// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A record to decide, with everything that is known before the database is queried.
///
/// A class, since it is large, never changes, and is referenced from many parts of a batch.
package final class Candidate: Sendable {
    package enum Content: Sendable {
        /// The record holds no readable request and becomes a dead letter.
        case deadLetter(DeadLetterReason)

        /// A request whose fields break their rules, and the resulting refusal.
        indirect case invalid(InvalidRequest, Refusal)

        /// A readable request, and the verdict of the stateless rules.
        case request(VerificationRequest, Screening)
    }

    package let record: InboundRecord
    package let content: Content

    /// The key under which the record's decision is stored.
    ///
    /// A record without a readable request id is stored under its place.
    package let key: RequestKey

    package let place: RecordPlace

    package let digest: UUIDValue

    /// The ids of the verification and the send that this record may create; fresh for every attempt to decide it.
    package let verificationID: VerificationID
    package let sendID: SendID

    /// The values for the later rules at every possible decision time: their rows are locked and read.
    package let possibleOutcomes: UpToTwo<Screening.Passed>

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
            possibleOutcomes = screening.possibleOutcomes
        } else {
            possibleOutcomes = UpToTwo()
        }
    }

    /// The same record as a dead letter, stored under its place.
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

    /// The refusal by a rule that is checked before the request id: tenant, shape or number.
    package var refusalBeforeID: Refusal? {
        switch content {
        case .invalid(_, let refusal): refusal
        case .request(_, .refused(let refusal)) where refusal.comesBeforeID: refusal
        case .deadLetter, .request: nil
        }
    }

    /// The fields of the hints that were unreadable and left out of the request.
    package var unreadHints: [String] {
        guard case .request(let request, _) = content else { return [] }
        return request.unreadHints
    }

    /// The account, as the request gives it.
    var subject: String? {
        switch content {
        case .deadLetter: nil
        case .invalid(let invalid, _): invalid.subject
        case .request(let request, _): request.subject
        }
    }

    package var trace: TraceContext? {
        switch content {
        case .deadLetter: nil
        case .invalid(let invalid, _): invalid.trace
        case .request(let request, _): request.trace
        }
    }

    /// The values for the later rules, if the stateless rules let the request pass.
    package var passed: Screening.Passed? {
        guard case .request(_, .passed(let passed)) = content else { return nil }
        return passed
    }

    /// The candidate with the time-dependent rules applied.
    ///
    /// `now` is the database's time, so that all workers decide alike whatever their clocks show.
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
