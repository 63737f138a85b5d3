// SPDX-License-Identifier: Apache-2.0

import PostgresClient
package import Verification

extension PostgresLedger {
    package func record(_ results: [SendResult]) async throws -> Recorded<Void> {
        let results = results.sorted { $0.send.id < $1.send.id }
        do {
            return try await record(results, .asClaimed)
        } catch is MustLockFirst {
            return try await record(results, .locked)
        }
    }

    /// How the verifications of a batch are known.
    private enum Knowledge {
        /// As they were when their sends were claimed, which is nearly always how they still are.
        case asClaimed

        /// Read under their locks, all the sends' first.
        case locked
    }

    /// Another transaction may hold what was not expected to change: waiting for it here, with others locked already,
    /// could be waiting for each other.
    private struct MustLockFirst: Error {}

    private func record(_ results: [SendResult], _ knowledge: Knowledge) async throws -> Recorded<Void> {
        try await pool.withTransaction { transaction in
            if knowledge == .locked { _ = try transaction.run([Self.lockSends(results)]) }
            let answers = try transaction.run([settleSends(results), Statement("SELECT clock_timestamp()")])
            let settled = try Self.sendIDs(answers[0])
            let late = results.filter { !settled.contains($0.send.id) && $0.attempt?.messageID != nil }
            if knowledge == .asClaimed, !late.isEmpty { throw MustLockFirst() }
            let open = results.filter { settled.contains($0.send.id) && $0.disposition.settles }
            let now = try answers[1].clock()

            // 1. Those as they were claimed change in one statement, unless they have changed since.
            let known = knowledge == .asClaimed ? Self.byID(open.compactMap(\.verification)) : [:]
            var changes = settle(open, known, now)
            let written = try writeKnown(changes.verifications, known, transaction)
            changes.keep(written)

            // 2. The others are read first.
            let rest = open.filter { !written.contains($0.send.verificationID) }
            let read = try readOthers(Set(rest.map(\.send.verificationID)), knowledge, transaction)
            let others = settle(rest, read, now)
            changes.outbox += others.outbox
            changes.verifications = others.verifications

            let evidence = late.isEmpty ? [] : [Self.keepEvidence(late)]
            return Recorded((), outbox: try write(changes, transaction, after: evidence))
        }
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
        _ transaction: Transaction
    ) throws -> Set<VerificationID> {
        guard !verifications.isEmpty else { return [] }
        let rows = try transaction.run([Self.settleVerifications(verifications, known: known)])[0]
        return Set(try rows.map { VerificationID(UUIDValue(try $0.uuid(0))) })
    }

    private func readOthers(
        _ ids: Set<VerificationID>,
        _ knowledge: Knowledge,
        _ transaction: Transaction
    ) throws -> [VerificationID: StoredVerification] {
        guard !ids.isEmpty else { return [:] }
        switch knowledge {
        case .locked:
            return try Self.verifications(transaction.run([Self.lockVerifications(ids)])[0])
        case .asClaimed:
            let found = try Self.verifications(transaction.run([Self.lockFreeVerifications(ids)])[0])
            if found.count < ids.count { throw MustLockFirst() }
            return found
        }
    }
}

extension SendDisposition {
    /// Whether the verification learns of it.
    fileprivate var settles: Bool {
        switch self {
        case .sent, .delivered, .failed, .unknown, .expiredUnsent: true
        case .retry, .repeatOnce: false
        }
    }
}

extension OutcomeDecision.Changes {
    /// Keeps the events of these verifications; their rows are written.
    fileprivate mutating func keep(_ written: Set<VerificationID>) {
        outbox.removeAll { !written.contains(VerificationID($0.stream)) }
        verifications = []
    }
}
