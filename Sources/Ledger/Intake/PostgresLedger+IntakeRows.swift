// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
import Verification

extension PostgresLedger {
    /// The locked rows of a batch, the facts in them, and the pack for its events.
    struct IntakeRows {
        let known: KnownRows
        var facts: IntakeFacts
        let pack: Pack
    }

    /// Locks and reads a batch's rows in the lock order; reads the time after the last lock is granted.
    ///
    /// Windows that are known to be full are used as they were read, without a lock.
    func readRows(
        _ batch: IntakeBatch,
        _ full: [LimitKey: LimitWindow],
        _ locking: ConflictPolicy.Locking,
        _ transaction: Transaction
    ) throws -> IntakeRows {
        let keys = batch.keys
        let windows = full.isEmpty ? keys.windows : keys.windows.filter { full[$0] == nil }
        let unlocked = keys.unlockable.isEmpty ? [] : [Self.readRequests(keys.unlockable)]
        let answers = try transaction.run(KnownRows.lock(keys, windows) + [Self.readTime(keys)] + unlocked)
        var known = try KnownRows(answers, keys)
        known.windows.merge(full) { locked, _ in locked }
        var time = try IntakeTime(answers[3])
        let slots = known.slots(of: keys)
        let ids = keys.before(slots.values).union(keys.before(known.requests.values.compactMap(\.verificationID)))
        var unwritable: Set<VerificationID> = []
        if !unlocked.isEmpty {
            let requests = try Self.requests(answers[4], keys.unlockable)
            known.requests.merge(requests) { locked, _ in locked }
            unwritable = try existing(keys.before(requests.values.compactMap(\.verificationID)), transaction)
        }
        var verifications: [VerificationID: StoredVerification] = [:]
        var pack = Pack(behind: [])
        if !ids.isEmpty {
            let answers = try transaction.run([
                Self.lockVerifications(ids), Self.unpublished(ids), Self.readTime(keys),
            ])
            verifications = try Self.verifications(answers[0])
            if verifications.count < answers[0].count { throw UnknownValue() }
            pack.unpublished = try Self.verificationIDs(answers[1])
            time = try IntakeTime(answers[2])
        }
        if locking == .gates || keys.mayBreakLimit(time.usage) {
            time = try enterGates(keys, &known, at: time.now, transaction)
        }
        let facts = IntakeFacts(
            now: max(time.now, batch.notBefore ?? time.now),
            requests: known.requests.merging(keys.newRequests(but: known.requests)) { known, _ in known },
            slots: slots,
            verifications: verifications,
            unwritable: unwritable,
            windows: known.windows.merging(known.persons.mapValues(\.window)) { window, _ in window },
            tenantUsage: time.usage
        )
        return IntakeRows(known: known, facts: facts, pack: pack)
    }

    private func existing(_ ids: Set<VerificationID>, _ transaction: Transaction) throws -> Set<VerificationID> {
        if ids.isEmpty { return [] }
        return try Self.verificationIDs(try transaction.run([Self.existingVerifications(ids)])[0])
    }

    /// Locks the gates of the tenants, after a row for every person, window and request; returns the time after that.
    ///
    /// A transaction must not wait for a row while it holds a gate. Others wait for the gate while they hold their new
    /// rows, so that could deadlock.
    private func enterGates(
        _ keys: IntakeKeys,
        _ rows: inout KnownRows,
        at now: Timestamp,
        _ transaction: Transaction
    ) throws -> IntakeTime {
        let inserts = rows.addMissing(keys, at: now)
        let answers = try transaction.run(inserts + [Self.lockTenants(keys), Self.readTime(keys)])
        return try IntakeTime(answers[inserts.count + 1])
    }
}
