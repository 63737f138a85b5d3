// SPDX-License-Identifier: Apache-2.0

import PostgresClient
package import Verification

extension PostgresLedger {
    package func intake(
        _ candidates: [Candidate],
        by rules: IntakeRules
    ) async throws -> Recorded<IntakeResult> {
        let batch = IntakeBatch(candidates: candidates, keys: IntakeKeys(candidates), rules: rules)
        return try await Self.tellingData {
            if !metLocks.areRecent {
                do {
                    return try await intake(batch, leavingLocked: false)
                } catch let error as PostgresError where error.isLockConflict {
                    metLocks.note()
                }
            }
            let recorded = try await intake(batch, leavingLocked: true)
            if !recorded.value.waiting.isEmpty { metLocks.note() }
            return recorded
        }
    }

    /// Candidates with their keys, and what decides about them.
    private struct IntakeBatch: Sendable {
        let candidates: [Candidate]
        let keys: IntakeKeys
        let rules: IntakeRules
    }

    private func intake(_ batch: IntakeBatch, leavingLocked: Bool) async throws -> Recorded<IntakeResult> {
        var pace = Pace.together
        while true {
            do {
                return try await intake(batch, pace, leavingLocked: leavingLocked)
            } catch is StaleWindow {
                continue
            } catch let error as PostgresError where error.meansKnownRequest {
                continue
            } catch let error as PostgresError where pace == .together && error.meansOvertaken {
                pace = .oneByOne
            }
        }
    }

    /// Throws `UnrecordableBatch` where a value, not the database, is at fault.
    static func tellingData<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as PostgresError where error.isOfData {
            throw UnrecordableBatch()
        }
    }

    /// How workers with the same tenants and people decide.
    private enum Pace {
        /// Each by what it read. For a window that another one has begun meanwhile the batch is decided again; anything
        /// else that has changed makes the transaction fail.
        case together

        /// With a row locked for every window, and behind the gates of the tenants.
        case oneByOne
    }

    /// A window that another worker has begun since the windows were locked, or one that is full no more.
    ///
    /// Waiting for it now, out of their order, could be waiting for each other, so the transaction begins anew; each
    /// time one more is locked with the others.
    private struct StaleWindow: Error {}

    private func intake(
        _ batch: IntakeBatch,
        _ pace: Pace,
        leavingLocked: Bool
    ) async throws -> Recorded<IntakeResult> {
        let full = fullWindows.among(batch.keys.windows)
        return try await pool.withTransaction { transaction in
            var (free, waiting, keys) = (batch.candidates, [Candidate](), batch.keys)
            if leavingLocked {
                let locked = try LockedKeys(keys, full, transaction)
                (free, waiting) = locked.split(free)
                if !waiting.isEmpty { keys = IntakeKeys(free) }
            }
            var facts = try readFacts(keys, full, pace, transaction)
            var changes = batch.rules.decide(free, facts: facts)
            var writes = try writes(of: changes, keys, at: facts.now, transaction)
            var trials = 3
            while true {
                let open = full.keys.filter { changes.windows[$0] != nil }
                guard open.isEmpty else {
                    fullWindows.forget(open)
                    throw StaleWindow()
                }
                do {
                    let windows = Self.statements(writing: changes.windows, facts)
                    let outbox = try writes.tryCommit(behind: windows, transaction)
                    fullWindows.note(changes.fullWindows.filter { full[$0.key] == nil })
                    return Recorded(IntakeResult(sends: changes.sends, waiting: waiting), outbox: outbox)
                } catch let error as PostgresError where error.sqlState == .uniqueViolation && trials > 0 {
                    trials -= 1
                    let begun = try readBegunWindows(facts, keys, transaction)
                    if begun.windows.isEmpty { throw error }
                    facts = facts.adding(begun.windows, at: begun.time)
                    if let same = changes.following(begun.windows) {
                        changes = same
                    } else {
                        changes = batch.rules.decide(free, facts: facts)
                        writes = try self.writes(of: changes, keys, at: facts.now, transaction)
                    }
                }
            }
        }
    }

    private func writes(
        of changes: IntakeChanges,
        _ keys: IntakeKeys,
        at now: Timestamp,
        _ transaction: Transaction
    ) throws -> IntakeWrites {
        IntakeWrites(changes, keys, self, outbox: try numbered(changes.outbox, transaction), at: now)
    }

    /// The windows that others have begun since the facts were read, as far as they can be had without waiting.
    private func readBegunWindows(
        _ facts: IntakeFacts,
        _ keys: IntakeKeys,
        _ transaction: Transaction
    ) throws -> (windows: [LimitKey: LimitWindow], time: IntakeTime) {
        let new = keys.windows.filter { facts.windows[$0] == nil }
        let results = try transaction.run([Self.lockFreeWindows(new), Self.readTime(keys)])
        return (try Self.windows(results[0]), try IntakeTime(results[1]))
    }

    /// Locks and reads, in the one order of locks; the time is read when the last lock is granted.
    ///
    /// Windows that are known to be full are taken as they were read.
    private func readFacts(
        _ keys: IntakeKeys,
        _ full: [LimitKey: LimitWindow],
        _ pace: Pace,
        _ transaction: Transaction
    ) throws -> IntakeFacts {
        let others = full.isEmpty ? keys.windows : keys.windows.filter { full[$0] == nil }
        let results = try transaction.run([
            Self.lockSlots(keys), Self.lockWindows(others), Self.insertRequests(keys), Self.readTime(keys),
        ])
        let slots = try Self.slots(results[0], keys)
        var windows = try Self.windows(results[1]).merging(full) { locked, _ in locked }
        let requests = try Self.requests(results[2], keys)
        var time = try IntakeTime(results[3])
        let known = keys.before(slots.values).union(keys.before(requests.values.compactMap(\.verificationID)))
        var verifications: [VerificationID: StoredVerification] = [:]
        if !known.isEmpty {
            let locked = try transaction.run([Self.lockVerifications(known), Self.readTime(keys)])
            verifications = try Self.verifications(locked[0])
            time = try IntakeTime(locked[1])
        }
        if pace == .oneByOne || keys.mayBreakLimit(time.usage) {
            // Nobody may wait for a window behind a gate: others come to the gate with their new windows.
            let new = keys.windows.filter { windows[$0] == nil }
            let results = try transaction.run([Self.makeWindows(new), Self.lockTenants(keys), Self.readTime(keys)])
            guard results[0].affectedRows == new.count else { throw StaleWindow() }
            for key in new { windows[key] = LimitWindow() }
            time = try IntakeTime(results[2])
        }
        return IntakeFacts(
            now: time.now,
            requests: requests,
            slots: slots,
            verifications: verifications,
            windows: windows,
            tenantUsage: time.usage
        )
    }

    private static func statements(writing windows: [LimitKey: WindowChange], _ facts: IntakeFacts) -> [Statement] {
        let (known, new) = windows.split { facts.windows[$0] != nil }
        return (new.isEmpty ? [] : [insertWindows(new)]) + (known.isEmpty ? [] : [updateWindows(known)])
    }
}

extension PostgresError {
    /// Whether a value is at fault (classes 22 and 23 of PostgreSQL 15, appendix A), so that trying again is of no use.
    fileprivate var isOfData: Bool {
        guard code == .server, let sqlState else { return false }
        return sqlState.isOfClass("22") || sqlState.isOfClass("23")
    }
}

extension PostgresError {
    /// Whether another worker was faster: with the rest of a tenant's limit, or with a person's first window.
    fileprivate var meansOvertaken: Bool {
        sqlState == .tenantLimitWouldBreak || sqlState == .uniqueViolation
    }
}

extension IntakeFacts {
    /// These facts and more windows, as of a later time.
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
    /// Those whose key a condition holds for, and the others.
    fileprivate func split(_ condition: (Key) -> Bool) -> (Self, Self) {
        (filter { condition($0.key) }, filter { !condition($0.key) })
    }
}

extension SQLState {
    /// Raised by `courier.admit_tenants`.
    fileprivate static let tenantLimitWouldBreak = SQLState(rawValue: "CC001")
}
