// SPDX-License-Identifier: Apache-2.0

import Formats
package import PostgresClient
package import Verification

extension PostgresLedger {
    package func intake(_ candidates: [Candidate], by rules: IntakeRules) async throws -> Recorded<IntakeResult> {
        try await Self.mappingDataErrors {
            var batch = IntakeBatch(candidates, by: rules, besides: try await stillLocked(candidates))
            var conflicts = ConflictPolicy()
            while true {
                do {
                    return try await decide(batch, conflicts.locking)
                } catch {
                    switch conflicts.next(after: error) {
                    case .decideAgain: continue
                    case .setAsideLocked: batch = batch.besides(try await newlyLocked(batch.free))
                    case nil: throw error
                    }
                }
            }
        }
    }

    /// Decides a batch in one transaction: reads the facts, lets the rules decide, and writes the changes.
    private func decide(
        _ batch: IntakeBatch,
        _ locking: ConflictPolicy.Locking
    ) async throws -> Recorded<IntakeResult> {
        let waiting = batch.waiting
        if batch.free.isEmpty {
            let unspent = BudgetEffects(left: batch.purse)
            return Recorded(IntakeResult(sends: [], waiting: waiting, budgets: unspent), outbox: [])
        }
        let full = fullWindows.among(batch.keys.windows)
        return try await pool.withTransaction { transaction in
            var rows = try readRows(batch, full, locking, transaction)
            var changes = batch.decide(rows.facts)
            var readsLeft = ConflictPolicy.windowReads
            while true {
                try checkFull(full, changes)
                do {
                    let outbox = try write(changes, rows, batch.keys, transaction)
                    fullWindows.note(changes.fullWindows.filter { full[$0.key] == nil })
                    let result = IntakeResult(
                        sends: changes.sends,
                        waiting: waiting,
                        brake: changes.brake,
                        budgets: changes.budgets
                    )
                    return Recorded(result, outbox: outbox)
                } catch let error as PostgresError where error.isBegunWindow && readsLeft > 0 {
                    readsLeft -= 1
                    guard let next = try follow(changes, batch, &rows, transaction) else { throw error }
                    changes = next
                }
            }
        }
    }

    /// Throws if a remembered window would let a request pass; forgets such windows.
    private func checkFull(_ full: [LimitKey: LimitWindow], _ changes: IntakeChanges) throws {
        let open = full.keys.filter { changes.windows[$0] != nil }
        if open.isEmpty { return }
        fullWindows.forget(open)
        throw ReopenedWindow()
    }

    /// Follows the windows that others have begun since the facts were read, and returns the changes; nil if all of
    /// them are locked.
    ///
    /// Decides again only if a decision would differ.
    private func follow(
        _ changes: IntakeChanges,
        _ batch: IntakeBatch,
        _ rows: inout IntakeRows,
        _ transaction: Transaction
    ) throws -> IntakeChanges? {
        let new = batch.keys.windows.filter { rows.facts.windows[$0] == nil }
        let answers = try transaction.run([Self.lockWindows(new).skippingLocked, Self.readTime(batch.keys)])
        let begun = try Self.windows(answers[0], of: new)
        if begun.isEmpty { return nil }
        rows.facts.windows.merge(begun) { $1 }
        if let same = changes.following(begun) { return same }
        let time = try IntakeTime(answers[1])
        rows.facts.now = max(time.now, rows.facts.now)
        rows.facts.tenantUsage = time.usage
        return batch.decide(rows.facts)
    }

    /// Commits a batch's changes; if a statement fails, the transaction keeps its locks and can continue.
    private func write(
        _ changes: IntakeChanges,
        _ rows: IntakeRows,
        _ keys: IntakeKeys,
        _ transaction: Transaction
    ) throws -> [OutboxRecord] {
        try commit(
            Self.statements(writing: changes, rows.known, rows.facts, rows.pack),
            claiming: changes.sends.map(\.reference),
            publishing: changes.outbox,
            rows.pack,
            last: Self.admitTenants(changes.admissions, keys, at: rows.facts.now),
            isTrial: true,
            transaction
        )
    }

    /// The statements that write a batch's changes, except its parcel, its events and the tenants' admissions.
    ///
    /// An insert fails if another worker has begun the same row. Those come first, so that a failure undoes little.
    package static func statements(
        writing changes: IntakeChanges,
        _ rows: KnownRows,
        _ facts: IntakeFacts,
        _ pack: Pack
    ) -> [Statement] {
        let (known, new) = changes.persons(from: rows.persons, at: facts.now).split { rows.persons[$0] != nil }
        let (knownWindows, newWindows) = changes.windows.filter { $0.key.scope != .recipient }
            .split { facts.windows[$0] != nil }
        let (knownRequests, decided) = changes.requests.split { rows.requests[$0] != nil }
        let newRequests = facts.requests.filter { rows.requests[$0.key] == nil }.merging(decided) { $1 }
        let (inserted, updated) = (changes.insertedVerifications, changes.updatedVerifications)
        var statements: [Statement] = []
        if !new.isEmpty { statements.append(insertPersons(new)) }
        if !newWindows.isEmpty { statements.append(insertWindows(newWindows)) }
        if !newRequests.isEmpty { statements.append(insertRequests(newRequests)) }
        if !known.isEmpty { statements.append(updatePersons(known)) }
        if !knownWindows.isEmpty { statements.append(updateWindows(knownWindows)) }
        if !knownRequests.isEmpty { statements.append(updateRequests(knownRequests)) }
        if !inserted.isEmpty { statements.append(insertVerifications(inserted, pack)) }
        if !updated.isEmpty { statements.append(updateVerifications(updated, pack)) }
        if !changes.sends.isEmpty { statements.append(insertSends(changes.sends)) }
        return statements
    }

    /// Maps errors caused by a value, not by the database, to `UnrecordableBatch`.
    ///
    /// These are classes 22 and 23 of PostgreSQL 15, appendix A: a retry cannot succeed.
    static func mappingDataErrors<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as PostgresError where error.code == .server {
            guard let state = error.sqlState, state.isOfClass("22") || state.isOfClass("23") else { throw error }
            throw UnrecordableBatch()
        }
    }
}

extension Dictionary {
    fileprivate func split(_ condition: (Key) -> Bool) -> (Self, Self) {
        (filter { condition($0.key) }, filter { !condition($0.key) })
    }
}
