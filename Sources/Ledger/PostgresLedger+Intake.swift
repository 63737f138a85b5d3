// SPDX-License-Identifier: Apache-2.0

import Formats
package import PostgresClient
package import Verification

extension PostgresLedger {
    package func intake(
        _ candidates: [Candidate],
        by rules: IntakeRules
    ) async throws -> Recorded<IntakeResult> {
        try await Self.tellingData {
            // 1. Set aside the candidates that need rows known to be locked, without waiting for the locks.
            var (free, waiting) = (candidates, [Candidate]())
            var locked: LockedKeys?
            let concerned = heldRows.concerned(candidates)
            if !concerned.isEmpty {
                let held = heldRows.stillHeld(try await lockedKeys(of: concerned), of: concerned)
                (free, waiting) = held.split(free, by: rules)
                locked = held
            }
            // 2. The others wait for locks up to the lock timeout. After a timeout, find the locked rows and set aside
            //    their candidates, too. If no row is locked, the lock is on a table or a tenant's gate, which parts of
            //    the batch would meet as well.
            var looks = 2
            while true {
                do {
                    let keys = IntakeKeys(free, by: rules, besides: locked)
                    let batch = IntakeBatch(candidates: free, keys: keys, rules: rules, notBefore: locked?.now)
                    let recorded = free.isEmpty ? Recorded([], outbox: []) : try await intake(batch)
                    return Recorded(IntakeResult(sends: recorded.value, waiting: waiting), outbox: recorded.outbox)
                } catch  where error.isLockConflict && looks > 0 {
                    looks -= 1
                    let held = try await lockedKeys(of: free)
                    heldRows.note(held)
                    let split = held.split(free, by: rules)
                    locked = held
                    waiting = Self.inOrder(waiting + split.waiting, of: candidates)
                    free = split.free
                }
            }
        }
    }

    private static func inOrder(_ candidates: [Candidate], of batch: [Candidate]) -> [Candidate] {
        let places = Set(candidates.map(\.place))
        return batch.filter { places.contains($0.place) }
    }

    /// Candidates, their keys, and the rules that decide about them.
    private struct IntakeBatch: Sendable {
        let candidates: [Candidate]
        let keys: IntakeKeys
        let rules: IntakeRules

        /// The time by which the keys were chosen: if the clock is set back, no late request becomes timely again.
        let notBefore: Timestamp?

        /// Decides by these facts; leaves out changes of request rows that another transaction locks.
        func decide(_ facts: IntakeFacts) -> IntakeChanges {
            var changes = rules.decide(candidates, facts: facts)
            for candidate in keys.unlockable { changes.requests[candidate.key] = nil }
            return changes
        }
    }

    private func intake(_ batch: IntakeBatch) async throws -> Recorded<[ClaimedSend]> {
        var pace = Pace.together
        while true {
            do {
                return try await intake(batch, pace)
            } catch is OpenWindow {
                continue
            } catch let error as PostgresError where error.meansBegunRow {
                if error.meansBegunWindow { pace = .oneByOne }
            } catch let error as PostgresError where error.sqlState == .tenantLimitWouldBreak && pace == .together {
                pace = .oneByOne
            }
        }
    }

    /// Maps errors caused by a value, not by the database, to `UnrecordableBatch`.
    static func tellingData<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as PostgresError where error.isOfData {
            throw UnrecordableBatch()
        }
    }

    /// The locking of rows that workers with the same tenants and addresses share.
    private enum Pace {
        /// Optimistic: each worker decides by the rows that it read.
        ///
        /// If another worker has begun a window meanwhile, the batch is decided again. Any other change makes the
        /// transaction fail, and it is retried.
        case together

        /// Serialized: with locked rows for every person, window and request, and then the gates of the tenants.
        case oneByOne
    }

    /// A remembered window is not full any more: the next transaction locks its row.
    private struct OpenWindow: Error {}

    private func intake(_ batch: IntakeBatch, _ pace: Pace) async throws -> Recorded<[ClaimedSend]> {
        let full = fullWindows.among(batch.keys.windows)
        return try await pool.withTransaction { transaction in
            let keys = batch.keys
            let read = try readFacts(keys, full, pace, transaction)
            var facts = read.facts.notBefore(batch.notBefore)
            var changes = batch.decide(facts)
            var writes = try writes(of: changes, keys, read.pack, at: facts.now, transaction)
            var trials = 3
            while true {
                let open = full.keys.filter { changes.windows[$0] != nil }
                guard open.isEmpty else {
                    fullWindows.forget(open)
                    throw OpenWindow()
                }
                do {
                    let rows = Self.statements(writing: changes, read.known, facts)
                    let outbox = try writes.tryCommit(behind: rows, transaction)
                    fullWindows.note(changes.fullWindows.filter { full[$0.key] == nil })
                    return Recorded(changes.sends, outbox: outbox)
                } catch let error as PostgresError where error.meansBegunWindow && trials > 0 {
                    trials -= 1
                    let begun = try readBegunWindows(facts, keys, transaction)
                    if begun.windows.isEmpty { throw error }
                    facts = facts.adding(begun.windows, at: begun.time)
                    if let same = changes.following(begun.windows) {
                        changes = same
                    } else {
                        changes = batch.decide(facts)
                        writes = try self.writes(of: changes, keys, read.pack, at: facts.now, transaction)
                    }
                }
            }
        }
    }

    private func writes(
        of changes: IntakeChanges,
        _ keys: IntakeKeys,
        _ pack: Pack,
        at now: Timestamp,
        _ transaction: Transaction
    ) throws -> IntakeWrites {
        IntakeWrites(changes, keys, self, outbox: try numbered(changes.outbox, transaction), pack, at: now)
    }

    /// Locks and reads the windows that others have begun since the facts were read; skips locked ones.
    private func readBegunWindows(
        _ facts: IntakeFacts,
        _ keys: IntakeKeys,
        _ transaction: Transaction
    ) throws -> (windows: [LimitKey: LimitWindow], time: IntakeTime) {
        let new = keys.windows.filter { facts.windows[$0] == nil }
        let results = try transaction.run([Self.lockWindows(new).skippingLocked, Self.readTime(keys)])
        return (try Self.windows(results[0]), try IntakeTime(results[1]))
    }

    /// Facts that were read under locks, the rows they came from, and the pack for the events.
    private struct ReadRows {
        let facts: IntakeFacts
        let known: KnownRows
        let pack: Pack
    }

    /// The existing rows, all locked except request rows that are not written.
    package struct KnownRows {
        package var persons: [LimitKey: Person] = [:]
        package var windows: [LimitKey: LimitWindow] = [:]
        package var requests: [RequestKey: KnownRequest] = [:]

        package init() {}
    }

    /// Locks and reads the facts in the lock order; reads the time after the last lock is granted.
    ///
    /// Windows that are known to be full are used as they were read, without a lock.
    private func readFacts(
        _ keys: IntakeKeys,
        _ full: [LimitKey: LimitWindow],
        _ pace: Pace,
        _ transaction: Transaction
    ) throws -> ReadRows {
        let others = full.isEmpty ? keys.windows : keys.windows.filter { full[$0] == nil }
        let results = try transaction.run(
            [
                Self.lockPersons(keys.persons), Self.lockWindows(others), Self.lockRequests(keys), Self.readTime(keys),
            ] + (keys.unlockable.isEmpty ? [] : [Self.readRequests(keys.unlockable)])
        )
        var rows = KnownRows()
        rows.persons = try Self.persons(results[0])
        rows.windows = try Self.windows(results[1]).merging(full) { locked, _ in locked }
        rows.requests = try Self.requests(results[2], keys.requests)
        var time = try IntakeTime(results[3])
        let slots: [SlotKey: VerificationID] = keys.slots.reduce(into: [:]) { slots, slot in
            slots[slot] = rows.persons[slot.person]?[slot.purpose]
        }
        let known = keys.before(slots.values).union(keys.before(rows.requests.values.compactMap(\.verificationID)))
        if results.count > 4 {
            rows.requests.merge(try Self.requests(results[4], keys.unlockable)) { locked, _ in locked }
        }
        var verifications: [VerificationID: StoredVerification] = [:]
        var unpublished: Set<VerificationID> = []
        if !known.isEmpty {
            let locked = try transaction.run([
                Self.lockVerifications(known), Self.unpublished(known), Self.readTime(keys),
            ])
            verifications = try Self.verifications(locked[0])
            if verifications.count < locked[0].count { throw UnknownValue() }
            unpublished = try Self.verificationIDs(locked[1])
            time = try IntakeTime(locked[2])
        }
        if pace == .oneByOne || keys.mayBreakLimit(time.usage) {
            time = try enterGates(keys, &rows, at: time.now, transaction)
        }
        let facts = IntakeFacts(
            now: time.now,
            requests: rows.requests.merging(keys.newRequests(but: rows.requests)) { known, _ in known },
            slots: slots,
            verifications: verifications,
            windows: rows.windows.merging(rows.persons.mapValues(\.window)) { window, _ in window },
            tenantUsage: time.usage
        )
        return ReadRows(facts: facts, known: rows, pack: Pack(behind: unpublished))
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
        let newPersons = Dictionary(
            uniqueKeysWithValues: keys.persons.filter { rows.persons[$0] == nil }.map { ($0, Person(keptUntil: now)) }
        )
        let newWindows = Dictionary(
            uniqueKeysWithValues: keys.windows.filter { rows.windows[$0] == nil }
                .map { ($0, WindowChange(LimitWindow(), under: [], at: now)) }
        )
        let newRequests = keys.newRequests(but: rows.requests)
        let results = try transaction.run([
            Self.insertPersons(newPersons), Self.insertWindows(newWindows), Self.insertRequests(newRequests),
            Self.lockTenants(keys), Self.readTime(keys),
        ])
        rows.persons.merge(newPersons) { $1 }
        rows.windows.merge(newWindows.mapValues(\.window)) { $1 }
        rows.requests.merge(newRequests) { $1 }
        return try IntakeTime(results[4])
    }

    /// The statements for persons, windows and requests; an insert fails if another worker has begun the same row.
    package static func statements(
        writing changes: IntakeChanges,
        _ rows: KnownRows,
        _ facts: IntakeFacts
    ) -> [Statement] {
        let (known, new) = changes.persons(from: rows.persons, at: facts.now).split { rows.persons[$0] != nil }
        let (knownWindows, newWindows) = changes.windows.filter { $0.key.scope != .recipient }
            .split { facts.windows[$0] != nil }
        let (knownRequests, decided) = changes.requests.split { rows.requests[$0] != nil }
        let newRequests = facts.requests.filter { rows.requests[$0.key] == nil }.merging(decided) { $1 }
        var statements: [Statement] = []
        if !new.isEmpty { statements.append(insertPersons(new)) }
        if !newWindows.isEmpty { statements.append(insertWindows(newWindows)) }
        if !newRequests.isEmpty { statements.append(insertRequests(newRequests)) }
        if !known.isEmpty { statements.append(updatePersons(known)) }
        if !knownWindows.isEmpty { statements.append(updateWindows(knownWindows)) }
        if !knownRequests.isEmpty { statements.append(updateRequests(knownRequests)) }
        return statements
    }
}

extension PostgresError {
    /// True when a value is at fault (classes 22 and 23 of PostgreSQL 15, appendix A), so that a retry cannot succeed.
    fileprivate var isOfData: Bool {
        guard code == .server, let sqlState else { return false }
        return sqlState.isOfClass("22") || sqlState.isOfClass("23")
    }
}

extension PostgresError {
    /// True when another worker has inserted the same row meanwhile; the next attempt reads it.
    fileprivate var meansBegunRow: Bool {
        meansBegunWindow || sqlState == .uniqueViolation && (table == "person" || table?.hasPrefix("request_") == true)
    }

    fileprivate var meansBegunWindow: Bool { sqlState == .uniqueViolation && table == "limit_window" }
}

extension IntakeFacts {
    /// The facts with `time` as their time, if theirs is earlier.
    fileprivate func notBefore(_ time: Timestamp?) -> IntakeFacts {
        guard let time, now < time else { return self }
        return IntakeFacts(
            now: time,
            requests: requests,
            slots: slots,
            verifications: verifications,
            windows: windows,
            tenantUsage: tenantUsage
        )
    }

    /// The facts with more windows, as of a later time.
    fileprivate func adding(_ begun: [LimitKey: LimitWindow], at time: IntakeTime) -> IntakeFacts {
        IntakeFacts(
            now: time.now,
            requests: requests,
            slots: slots,
            verifications: verifications,
            windows: windows.merging(begun) { _, begun in begun },
            tenantUsage: time.usage
        )
    }
}

extension Dictionary {
    fileprivate func split(_ condition: (Key) -> Bool) -> (Self, Self) {
        (filter { condition($0.key) }, filter { !condition($0.key) })
    }
}

extension SQLState {
    /// Raised by `courier.admit_tenants`.
    fileprivate static let tenantLimitWouldBreak = SQLState(rawValue: "CC001")
}
