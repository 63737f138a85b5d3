// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Verification

/// Checks a history's invariants from outside, and collects the broken ones.
///
/// It keeps its own record of windows, codes and sequences, independent of the rows of the decisions.
struct DecisionWatch {
    private(set) var broken: [String] = []
    private var sequences: [UUIDValue: Int32] = [:]
    private var codes: [CodeKey: Credential] = [:]
    private var openSends: [VerificationID: SendID] = [:]
    private var closedUntil: [VerificationID: Timestamp] = [:]
    private var countedSends: [VerificationID: Int] = [:]
    private var claimedRequests: Set<String> = []
    private var refusedPlaces: Set<String> = []

    private struct CodeKey: Hashable {
        let verification: VerificationID
        let generation: Int32
    }

    private mutating func check(_ holds: Bool, _ promise: @autoclosure () -> String) {
        if !holds { broken.append(promise()) }
    }

    /// Checks the decision of one record.
    mutating func decided(_ candidate: Candidate, _ changes: IntakeChanges, _ tables: DecisionTables) {
        let answers = changes.sends.count + changes.outbox.count
        check(answers <= 1, "a record is either sent or answered once")
        let place = "\(candidate.record.source)/\(candidate.record.offset)"
        if !changes.outbox.isEmpty { refusedPlaces.insert(place) }
        for claim in changes.sends {
            check(!refusedPlaces.contains(place), "what was answered is not sent later")
            check(claimedRequests.insert(claim.reference.requestID).inserted, "a request is sent once")
            check(isAcceptable(candidate), "only a request that every rule lets through is sent")
            claimed(claim, tables)
        }
        published(changes.outbox)
    }

    private func isAcceptable(_ candidate: Candidate) -> Bool {
        guard case .request(_, .passed) = candidate.content else { return false }
        return true
    }

    private mutating func claimed(_ claim: ClaimedSend, _ tables: DecisionTables) {
        let id = claim.reference.verificationID
        check(openSends[id] == nil, "a verification has one send without an outcome")
        check(tables.now >= closedUntil[id] ?? tables.now, "nothing is sent inside the resend window")
        openSends[id] = claim.id
        countedSends[id, default: 0] += 1
        check(countedSends[id, default: 0] == Int(claim.reference.number), "sends are numbered 1, 2, …")
        check(countedSends[id, default: 0] <= 2, "there are no more sends than windows and one")
        check(claim.deadline >= tables.now, "nothing is claimed after its deadline")
        check(claim.reference.fence == 1, "a new send has the first fence")
        handed(claim, tables)
    }

    /// Checks that a claim, new or taken over, carries the current code of its verification.
    mutating func handed(_ claim: ClaimedSend, _ tables: DecisionTables) {
        let id = claim.reference.verificationID
        let key = CodeKey(verification: id, generation: claim.generation)
        check(codes[key] ?? claim.credential == claim.credential, "a generation has one code")
        codes[key] = claim.credential
        check(openSends[id] == claim.id, "only an open send is handed over")
        guard let row = tables.verifications[id] else { return check(false, "the verification is there") }
        check(row.codeHash == tables.codeHash(of: claim, row), "the stored hash is that of the code that leaves")
        let short = claim.credential.shortCode.flatMap { tables.hash(of: $0.digits, row) }
        check(row.shortCode?.hash == short, "the code beside a link has its hash in the row")
        check(row.shortCode.map { $0.until <= row.expiresAt } ?? true, "no code outlives its link")
        check((claim.link() == nil) == (row.channel != .email), "an e-mail and nothing else has a link")
        check(row.sendOpen, "the verification knows of its open send")
    }

    /// Checks the end of a send by a recorded outcome.
    mutating func ended(_ claim: ClaimedSend, _ disposition: SendDisposition, _ tables: DecisionTables) {
        let id = claim.reference.verificationID
        switch disposition {
        case .retry, .repeatOnce, .delivered: return
        case .expiredUnsent, .failed:
            countedSends[id, default: 0] -= 1
            closedUntil[id] = tables.now
        case .sent, .unknown:
            closedUntil[id] = tables.now + .seconds(30)
        }
        openSends[id] = nil
    }

    /// Checks events in order of publication.
    mutating func published(_ outbox: [OutboxRecord]) {
        for record in outbox where !record.isDeadLetter {
            let last = sequences[record.stream] ?? 0
            check(record.sequence == last + 1 || isRepeatedRefusal(record, last), "events are numbered 1, 2, …")
            sequences[record.stream] = record.sequence
            let event = EventsView(record)
            check(event?.sequence == Int64(record.sequence), "an event tells its number")
            check((event?.sendsLeft ?? 0) >= 0, "no less than no send is left")
        }
    }

    /// Returns true for a refusal that was decided again from the same record, which repeats the same event.
    private func isRepeatedRefusal(_ record: OutboxRecord, _ last: Int32) -> Bool {
        last == 1 && record.sequence == 1 && EventsView(record)?.verificationID == nil
    }

    /// Checks the invariants of the tables, which hold at any time.
    mutating func look(at tables: DecisionTables) {
        var open: [VerificationID: Int] = [:]
        for send in tables.sends.values { open[send.claim.reference.verificationID, default: 0] += 1 }
        var live: [SlotKey: Int] = [:]
        for row in tables.verifications.values {
            check(open[row.id, default: 0] == (row.sendOpen ? 1 : 0), "a verification has at most one open send")
            check((0...row.maxSends).contains(row.sendsUsed), "no more sends are used than there are")
            check(row.checksUsed <= row.maxChecks, "no more guesses are used than there are")
            guard row.state == .live || row.state == .locked, row.expiresAt > tables.now else { continue }
            let slot = SlotKey(tenant: row.tenant, purpose: row.purpose, fingerprint: row.fingerprint)
            live[slot, default: 0] += 1
            check(tables.slots[slot] == row.id, "a slot points to its live verification")
        }
        check(live.values.allSatisfy { $0 == 1 }, "a slot has one live verification")
    }
}
