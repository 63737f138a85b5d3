// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
package import Verification

extension PostgresLedger {
    package func record(_ results: [SendResult]) async throws -> Recorded<RecordResult> {
        let results = results.sorted { $0.send.id < $1.send.id }
        return try await Self.mappingDataErrors {
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
    private func recordAsClaimed(_ results: [SendResult]) async throws -> Recorded<RecordResult> {
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
            let open = results.filter { settled.contains($0.send.claim) && $0.isTold }
            var pack = Pack(behind: try answers.dropFirst(3).first.map(Self.verificationIDs) ?? [])
            let now = try answers[2].clock()

            // 1. Write the verifications known from the claims in one statement, which skips those changed since.
            let known = Dictionary(open.compactMap(\.verification).map { ($0.id, $0) }) { first, _ in first }
            var changes = OutcomeDecision.settle(open, verifications: known, now: now, source: settings.source)
            let writing = Self.settleVerifications(changes.verifications, known: known, pack)
            let written = try changes.verifications.isEmpty ? [] : Self.verificationIDs(transaction.run([writing])[0])
            changes.keep(written)

            // 2. Lock and read the other verifications, then settle them.
            let rest = open.filter { !written.contains($0.send.verificationID) }
            let read = try readOthers(Set(rest.map(\.send.verificationID)), &pack, transaction)
            let others = OutcomeDecision.settle(rest, verifications: read, now: now, source: settings.source)
            changes.outbox += others.outbox
            changes.verifications = others.verifications
            return Recorded(
                RecordResult(settled: Set(settled.map(\.send))),
                outbox: try write(changes, pack, ending: results, transaction)
            )
        }
    }

    /// Records results whose rows no other transaction locks, and returns the others.
    ///
    /// Extends the leases of the others, since a worker that waits for a lock is alive.
    private func recordUnlocked(_ results: [SendResult]) async throws -> Recorded<RecordResult> {
        try await pool.withTransaction { transaction in
            let rows = try lockFree(results, transaction)
            let waiting = results.filter(rows.isLocked)
            let free = results.filter { !rows.isLocked($0) }
            let (changes, settled, evidence) = try writeLocked(free, rows, transaction)
            let parcels = Array(Set(openParcels.groups(of: waiting.map(\.send.claim)).compactMap(\.self)))
            let leases = parcels.isEmpty ? [] : [extendParcels(parcels)]
            let outbox = try write(changes, rows.pack, ending: free, transaction, after: evidence + leases)
            openParcels.extend(parcels, for: settings.lease * 2)
            return Recorded(RecordResult(waiting: waiting, settled: settled), outbox: outbox)
        }
    }

    /// The rows of results that are locked without waiting, and the rows that another transaction locks.
    private struct FreeRows {
        let unknownSends: Set<SendID>
        let lockedSends: Set<SendID>
        let verifications: FreeVerifications
        let pack: Pack

        func isLocked(_ result: SendResult) -> Bool {
            lockedSends.contains(result.send.id)
                || result.isTold && verifications.busy.contains(result.send.verificationID)
        }
    }

    /// Locks rows without waiting, sends before verifications, the lock order.
    ///
    /// Rows that do not exist need no lock.
    private func lockFree(_ results: [SendResult], _ transaction: Transaction) throws -> FreeRows {
        let existing = Self.existingSends(results.map(\.send.id))
        let ids = Set(results.filter(\.isTold).map(\.send.verificationID))
        let answers = try transaction.run(
            [existing.forUpdateSkippingLocked, existing] + FreeVerifications.lock(ids) + [Self.unpublished(ids)]
        )
        return FreeRows(
            unknownSends: try Self.sendIDs(answers[0], in: "unknown"),
            lockedSends: try Self.sendIDs(answers[1]).subtracting(Self.sendIDs(answers[0])),
            verifications: try FreeVerifications(answers[2], answers[3]),
            pack: Pack(behind: try Self.verificationIDs(answers[4]))
        )
    }

    /// Writes results whose rows are locked; returns the changes to verifications, the sends whose claims held, and
    /// statements that keep evidence.
    private func writeLocked(
        _ results: [SendResult],
        _ rows: FreeRows,
        _ transaction: Transaction
    ) throws -> (OutcomeDecision.Changes, settled: Set<SendID>, evidence: [Statement]) {
        let answers = try transaction.run([Self.settleSends(results), .clock])
        let settled = try Self.sendClaims(answers[0])
        let open = results.filter { settled.contains($0.send.claim) && $0.isTold }

        // Settle sends that a sweep marked unknown, or for a repeat, while this worker was cut off: it has their results.
        let unsettled = results.filter { !settled.contains($0.send.claim) && $0.isEvidence }
        let answering = unsettled.filter(\.disposition.settlesUnknown)
        let late = answering.isEmpty ? [] : try Self.sendClaims(transaction.run([Self.settleLateSends(answering)])[0])
        let changes = OutcomeDecision.settle(
            open + answering.filter { late.contains($0.send.claim) },
            late: late.filter { rows.unknownSends.contains($0.send) },
            verifications: rows.verifications.free,
            now: try answers[1].clock(),
            source: settings.source
        )
        let named = unsettled.filter { !late.contains($0.send.claim) && $0.attempt?.messageID != nil }
        return (changes, Set(settled.map(\.send)), named.isEmpty ? [] : [Self.keepEvidence(named)])
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
}

extension OutcomeDecision.Changes {
    /// Keeps only the events of these verifications, whose rows are written.
    fileprivate mutating func keep(_ written: Set<VerificationID>) {
        outbox.removeAll { !written.contains(VerificationID($0.stream)) }
        verifications = []
    }
}
