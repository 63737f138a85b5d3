// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
package import Verification

extension PostgresLedger {
    package func record(_ results: [SendResult]) async throws -> Recorded<[SendResult]> {
        let results = results.sorted { $0.send.id < $1.send.id }
        return try await Self.tellingData {
            do {
                return try await recordAsClaimed(results)
            } catch is ChangedSinceClaim {
                return try await recordUnlocked(results)
            } catch let error as PostgresError where error.isContention {
                return try await recordUnlocked(results)
            }
        }
    }

    /// A row has changed since the claim, so another transaction may lock it.
    ///
    /// Waiting for that lock, while this transaction holds others, could deadlock.
    private struct ChangedSinceClaim: Error {}

    /// A short lock timeout: results that are ready must not wait long for rows that others lock.
    private static let brieflyLocked = Statement("SELECT set_config('lock_timeout', '100ms', true)").repeated

    /// Records results of verifications that have not changed since their sends were claimed, which is the usual case.
    private func recordAsClaimed(_ results: [SendResult]) async throws -> Recorded<[SendResult]> {
        try await pool.withTransaction { transaction in
            let later = results.compactMap(\.verification).filter { $0.sequence > 0 }.map(\.id)
            let answers = try transaction.run(
                [Self.brieflyLocked, Self.settleSends(results), .clock]
                    + (later.isEmpty ? [] : [Self.unpublished(later)])
            )
            let settled = try Self.sendClaims(answers[1])
            if results.contains(where: { !settled.contains($0.send.claim) && $0.isEvidence }) {
                throw ChangedSinceClaim()
            }
            let open = results.filter { settled.contains($0.send.claim) && $0.disposition.settles }
            var pack = Pack(behind: try answers.dropFirst(3).first.map(Self.verificationIDs) ?? [])
            let now = try answers[2].clock()

            // 1. Write the verifications known from the claims in one statement, which skips those changed since.
            let known = Self.byID(open.compactMap(\.verification))
            var changes = settle(open, known, now)
            let written = try writeKnown(changes.verifications, known, pack, transaction)
            changes.keep(written)

            // 2. Lock and read the other verifications, then settle them.
            let rest = open.filter { !written.contains($0.send.verificationID) }
            let read = try readOthers(Set(rest.map(\.send.verificationID)), &pack, transaction)
            let others = settle(rest, read, now)
            changes.outbox += others.outbox
            changes.verifications = others.verifications
            return Recorded([], outbox: try write(changes, pack, ending: results, transaction))
        }
    }

    /// Records results whose rows no other transaction locks, and returns the others.
    ///
    /// Extends the leases of the others, since a worker that waits for a lock is alive.
    private func recordUnlocked(_ results: [SendResult]) async throws -> Recorded<[SendResult]> {
        let sends = results.map(\.send.id)
        let verifications = Set(results.filter(\.disposition.settles).map(\.send.verificationID))
        return try await pool.withTransaction { transaction in
            // 1. Lock without waiting, sends before verifications, the lock order. Rows that do not exist need no lock.
            let existing = Self.existingSends(sends)
            let locks = try transaction.run([
                existing.forUpdateSkippingLocked, existing,
                Self.lockVerifications(verifications).skippingLocked, Self.existingVerifications(verifications),
                Self.unpublished(verifications),
            ])
            let lockedSends = try Self.sendIDs(locks[0])
            let busySends = try Self.sendIDs(locks[1]).subtracting(lockedSends)
            let (read, busyVerifications) = try Self.freeVerifications(locks[2], locks[3])
            let waiting = results.filter {
                busySends.contains($0.send.id)
                    || $0.disposition.settles && busyVerifications.contains($0.send.verificationID)
            }
            let ids = Set(waiting.map(\.send.id))
            let free = results.filter { !ids.contains($0.send.id) }

            // 2. Write the results whose rows are locked.
            let answers = try transaction.run([Self.settleSends(free), .clock])
            let settled = try Self.sendClaims(answers[0])
            let open = free.filter { settled.contains($0.send.claim) && $0.disposition.settles }

            // 3. Settle sends that a sweep marked unknown, or for a repeat, while this worker was cut off: it has their
            // results.
            let unsettled = free.filter { !settled.contains($0.send.claim) && $0.isEvidence }
            let answering = unsettled.filter(\.disposition.settlesUnknown)
            let late =
                answering.isEmpty ? [] : try Self.sendClaims(transaction.run([Self.settleLateSends(answering)])[0])
            let unknown = try Self.sendIDs(locks[0], in: "unknown")
            let changes = OutcomeDecision.settle(
                open + answering.filter { late.contains($0.send.claim) },
                late: late.filter { unknown.contains($0.send) },
                verifications: read,
                now: try answers[1].clock(),
                source: settings.source
            )
            let named = unsettled.filter { !late.contains($0.send.claim) && $0.attempt?.messageID != nil }
            let evidence = named.isEmpty ? [] : [Self.keepEvidence(named)]
            let parcels = Array(Set(openParcels.groups(of: waiting.map(\.send.claim)).compactMap(\.self)))
            let leases = parcels.isEmpty ? [] : [extendParcels(parcels)]
            let pack = Pack(behind: try Self.verificationIDs(locks[4]))
            let outbox = try write(changes, pack, ending: free, transaction, after: evidence + leases)
            openParcels.extend(parcels, for: settings.lease * 2)
            return Recorded(waiting, outbox: outbox)
        }
    }

    /// Writes the changes, and ends the results' claims in their parcels.
    private func write(
        _ changes: OutcomeDecision.Changes,
        _ pack: Pack,
        ending results: [SendResult],
        _ transaction: Transaction,
        after earlier: [Statement] = []
    ) throws -> [OutboxRecord] {
        let delays = results.compactMap { result in
            result.disposition.retryAfter.map { Delay(send: result.send, after: $0) }
        }
        let leaving = openParcels.plan(ending: results.map(\.send.claim))
        let outbox = try write(changes, pack, transaction, after: earlier + Self.leaveParcels(leaving, delays))
        openParcels.finish(leaving)
        return outbox
    }

    private func settle(
        _ results: [SendResult],
        _ verifications: [VerificationID: StoredVerification],
        _ now: Timestamp
    ) -> OutcomeDecision.Changes {
        OutcomeDecision.settle(results, verifications: verifications, now: now, source: settings.source)
    }

    private static func byID(_ verifications: [StoredVerification]) -> [VerificationID: StoredVerification] {
        Dictionary(verifications.map { ($0.id, $0) }) { first, _ in first }
    }

    private func writeKnown(
        _ verifications: [StoredVerification],
        _ known: [VerificationID: StoredVerification],
        _ pack: Pack,
        _ transaction: Transaction
    ) throws -> Set<VerificationID> {
        guard !verifications.isEmpty else { return [] }
        let rows = try transaction.run([Self.settleVerifications(verifications, known: known, pack)])[0]
        return try Self.verificationIDs(rows)
    }

    private func readOthers(
        _ ids: Set<VerificationID>,
        _ pack: inout Pack,
        _ transaction: Transaction
    ) throws -> [VerificationID: StoredVerification] {
        guard !ids.isEmpty else { return [:] }
        let answers = try transaction.run([Self.lockVerifications(ids).skippingLocked, Self.unpublished(ids)])
        let found = try Self.verifications(answers[0])
        if found.count < ids.count { throw ChangedSinceClaim() }
        pack.unpublished.formUnion(try Self.verificationIDs(answers[1]))
        return found
    }
}

extension SendResult {
    /// True when the result says more about a send than `unknown`, although the claim is lost.
    fileprivate var isEvidence: Bool { disposition.settlesUnknown || attempt?.messageID != nil }
}

extension SendDisposition {
    /// True when the outcome is definite, so that it settles a send that a sweep marked unknown meanwhile.
    fileprivate var settlesUnknown: Bool {
        switch self {
        case .sent, .failed: true
        case .delivered, .unknown, .expiredUnsent, .retry, .repeatOnce: false
        }
    }

    fileprivate var settles: Bool {
        switch self {
        case .sent, .delivered, .failed, .unknown, .expiredUnsent: true
        case .retry, .repeatOnce: false
        }
    }
}

extension OutcomeDecision.Changes {
    /// Keeps only the events of these verifications, whose rows are written.
    fileprivate mutating func keep(_ written: Set<VerificationID>) {
        outbox.removeAll { !written.contains(VerificationID($0.stream)) }
        verifications = []
    }
}
