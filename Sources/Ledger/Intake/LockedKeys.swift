// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
import Synchronization
import Verification

/// The keys of a batch whose rows other transactions lock, found without waiting for a lock.
struct LockedKeys: Sendable {
    /// Placeholder id of a transaction that inserted a row and is not committed: its row is invisible.
    static let inserting: Int64 = 0

    /// The id of the transaction that locks each key's row or the row of its verification.
    var holders: [UInt128: Int64] = [:]

    /// The database's time at the check.
    let now: Timestamp

    /// The keys that have a row.
    fileprivate var existing: Set<UInt128> = []

    init(holders: [UInt128: Int64] = [:], now: Timestamp) {
        self.holders = holders
        self.now = now
    }

    /// The candidates that need none of these rows, in order.
    ///
    /// A person's candidates keep their order: a candidate behind a waiting one waits, too. A candidate that is too
    /// late to be sent needs no committed row, so a lock delays no candidate beyond its deadline. A row of its id that is
    /// not committed yet may be its own decision, by another worker: the candidate waits until that is known.
    func free(among candidates: [Candidate], by rules: IntakeRules) -> [Candidate] {
        if holders.isEmpty { return candidates }
        var keys = Set<RequestKey>()
        var slots = Set<SlotKey>()
        return candidates.filter { candidate in
            let isTooLate = rules.isTooLate(candidate, at: now)
            let passed = isTooLate ? UpToTwo() : candidate.possibleOutcomes
            let isBehind = keys.contains(candidate.key) || passed.contains { slots.contains($0.slot) }
            let needsLocked =
                isTooLate ? holders[candidate.key.digest.value] == Self.inserting : needsHeld(candidate.key, passed)
            if !isBehind && !needsLocked { return true }
            keys.insert(candidate.key)
            slots.formUnion(passed.lazy.map(\.slot))
            return false
        }
    }

    private func needsHeld(_ key: RequestKey, _ passed: UpToTwo<Screening.Passed>) -> Bool {
        holders[key.digest.value] != nil
            || passed.contains { passed in
                holders[passed.slot.person.digest.value] != nil
                    || passed.testNumber == nil && passed.limits.contains { holders[$0.digest.value] != nil }
            }
    }

    /// Reads the existing rows, each with the id of the transaction that locks or last locked it (`xmax`).
    static func existing(_ keys: IntakeKeys, _ windows: [LimitKey]) -> Statement {
        Statement(
            """
            SELECT p.key, p.xmax::text::bigint FROM courier.person p WHERE p.key = ANY ($1)
            UNION ALL
            SELECT w.key, w.xmax::text::bigint FROM courier.limit_window w WHERE w.key = ANY ($2)
            UNION ALL
            SELECT r.key, r.xmax::text::bigint FROM courier.request r
            WHERE r.key = ANY ($3)
              AND r.day BETWEEN (statement_timestamp() AT TIME ZONE 'UTC')::date - 1
                  AND (statement_timestamp() AT TIME ZONE 'UTC')::date
            """,
            [keys.persons.parameter, windows.parameter, .uuids(keys.requests.map(\.key.digest.value))]
        )
    }

    /// Finds the keys that another transaction has inserted into a table and not committed.
    static func uncommitted(_ table: String, _ keys: some Sequence<UInt128>) -> Statement {
        Statement("SELECT courier.uncommitted_keys($1, $2)", [.text(table), .uuids(Array(keys))])
    }
}

extension PostgresLedger {
    /// Finds the rows of candidates that the same transactions lock since an earlier check; nil if there was none.
    func stillLocked(_ candidates: [Candidate]) async throws -> LockedKeys? {
        let concerned = heldRows.concerned(candidates)
        if concerned.isEmpty { return nil }
        return heldRows.stillHeld(try await lockedKeys(of: concerned), of: concerned)
    }

    /// Finds the rows of candidates that other transactions lock, and remembers them.
    func newlyLocked(_ candidates: [Candidate]) async throws -> LockedKeys {
        let locked = try await lockedKeys(of: candidates)
        heldRows.note(locked)
        return locked
    }

    /// Finds the rows of the candidates that other transactions lock.
    ///
    /// Keeps no locks afterwards.
    private func lockedKeys(of candidates: [Candidate]) async throws -> LockedKeys {
        let keys = IntakeKeys(candidates)
        let full = fullWindows.among(keys.windows)
        let windows = keys.windows.filter { full[$0] == nil }
        let locked = try await pool.withTransaction { transaction in try Self.look(keys, windows, transaction) }
        return try await pool.withTransaction { transaction in try Self.probe(keys, windows, locked, transaction) }
    }

    /// Finds the locked rows, and the keys of all existing rows.
    private static func look(
        _ keys: IntakeKeys,
        _ windows: [LimitKey],
        _ transaction: Transaction
    ) throws -> LockedKeys {
        // 1. Lock persons, windows and requests without waiting.
        let answers = try transaction.run(
            KnownRows.lock(keys, windows).map(\.skippingLocked) + [LockedKeys.existing(keys, windows), .clock]
        )
        let rows = try KnownRows(answers, keys)
        var locked = LockedKeys(now: try answers[4].clock())
        locked.holders = Dictionary(try answers[3].map { (try $0.uuid(0), try $0.int64(1)) }) { first, _ in first }
        locked.existing = Set(locked.holders.keys)
        for key in rows.persons.keys { locked.holders[key.digest.value] = nil }
        for key in rows.windows.keys { locked.holders[key.digest.value] = nil }
        for key in rows.requests.keys { locked.holders[key.digest.value] = nil }

        // 2. Lock the verifications that those rows point to.
        var targets = rows.requests.compactMap { key, request in
            request.verificationID.map { (key: key.digest.value, id: $0) }
        }
        for (slot, id) in rows.slots(of: keys) { targets.append((slot.person.digest.value, id)) }
        let known = keys.before(targets.map(\.id))
        if known.isEmpty { return locked }
        let found = try transaction.run([lockVerifications(known).skippingLocked, Self.holders(of: known)])
        let free = try verifications(found[0])
        let holders = Dictionary(try found[1].map { (try $0.uuid(0), try $0.int64(1)) }) { first, _ in first }
        for target in targets where free[target.id] == nil {
            if let holder = holders[target.id.uuid.value] { locked.holders[target.key] = holder }
        }
        return locked
    }

    /// Reads the existing verifications, each with the id of the transaction that locks or last locked it.
    private static func holders(of ids: Set<VerificationID>) -> Statement {
        Statement(
            """
            SELECT v.id, v.xmax::text::bigint FROM courier.verification v
            WHERE v.id = ANY ($1::uuid[]) AND v.id BETWEEN $2 AND $3
            """,
            bounded(ids.map(\.uuid.value))
        )
    }

    /// Finds the keys without a row that another transaction is inserting.
    ///
    /// Request ids are probed first: an uncommitted batch of another worker has inserted all of its request ids, so
    /// only the persons and windows of the remaining requests need a probe.
    private static func probe(
        _ keys: IntakeKeys,
        _ windows: [LimitKey],
        _ locked: LockedKeys,
        _ transaction: Transaction
    ) throws -> LockedKeys {
        var found = locked
        let requests = keys.requests.map(\.key.digest.value).filter { !locked.existing.contains($0) }
        if !requests.isEmpty {
            let rows = try transaction.run([LockedKeys.uncommitted("request", requests)])[0]
            for row in rows { found.holders[try row.uuid(0)] = LockedKeys.inserting }
        }
        let others = keys.requests.filter { found.holders[$0.key.digest.value] == nil }.flatMap(\.possibleOutcomes)
        let persons = Set(others.map(\.slot.person.digest.value)).subtracting(locked.existing)
        let free = Set(windows.map(\.digest.value)).subtracting(locked.existing)
        let missing = Set(others.flatMap(\.limits).map(\.digest.value)).intersection(free)
        var statements: [Statement] = []
        if !persons.isEmpty { statements.append(LockedKeys.uncommitted("person", persons)) }
        if !missing.isEmpty { statements.append(LockedKeys.uncommitted("limit_window", missing)) }
        for rows in try transaction.run(statements) {
            for row in rows { found.holders[try row.uuid(0)] = LockedKeys.inserting }
        }
        return found
    }
}

/// The rows that other transactions locked for longer than the lock timeout, with those transactions' ids.
///
/// While the same transaction locks a row, batches defer the candidates that need it without waiting. A row that is
/// merely busy has another transaction each time, so batches wait for it as usual, and for every row once its lock is
/// released.
final class HeldRows: Sendable {
    private static let memory = Duration.seconds(30)

    private struct Held {
        let holder: Int64
        let seenAt: ContinuousClock.Instant
    }

    private let rows = Mutex<[UInt128: Held]>([:])

    var isEmpty: Bool { rows.withLock(\.isEmpty) }

    /// The candidates that need one of these rows.
    func concerned(_ candidates: [Candidate]) -> [Candidate] {
        let held = rows.withLock(\.self)
        if held.isEmpty { return [] }
        return candidates.filter { $0.lockableKeys.contains { held[$0] != nil } }
    }

    /// Records the locked rows that a check of all rows found.
    func note(_ locked: LockedKeys, at now: ContinuousClock.Instant = .now) {
        rows.withLock { rows in
            rows = rows.filter { $0.value.seenAt.duration(to: now) < Self.memory }
            for (key, holder) in locked.holders { rows[key] = Held(holder: holder, seenAt: now) }
        }
    }

    /// Updates the rows by another check of these candidates; returns the keys that the same transactions still lock.
    func stillHeld(
        _ locked: LockedKeys,
        of candidates: [Candidate],
        at now: ContinuousClock.Instant = .now
    ) -> LockedKeys {
        rows.withLock { rows in
            var same = locked
            same.holders = locked.holders.filter { rows[$0.key]?.holder == $0.value }
            for key in candidates.lazy.flatMap(\.lockableKeys) { rows[key] = nil }
            for (key, holder) in same.holders { rows[key] = Held(holder: holder, seenAt: now) }
            return same
        }
    }
}

extension Candidate {
    /// The keys of the rows that its decision may need.
    fileprivate var lockableKeys: [UInt128] {
        [key.digest.value]
            + possibleOutcomes.flatMap { passed in
                [passed.slot.person.digest.value]
                    + (passed.testNumber == nil ? passed.limits.map(\.digest.value) : [])
            }
    }
}
