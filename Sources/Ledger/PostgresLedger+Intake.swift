// SPDX-License-Identifier: Apache-2.0

import PostgresClient
package import Verification

extension PostgresLedger {
    package func intake(
        _ candidates: [Candidate],
        decide: @escaping @Sendable (IntakeFacts) -> IntakeChanges
    ) async throws -> Recorded<[ClaimedSend]> {
        let keys = IntakeKeys(candidates)
        return try await Self.tellingData {
            do {
                return try await intake(keys, behindGates: false, decide: decide)
            } catch let error as PostgresError where error.sqlState == .tenantLimitWouldBreak {
                // Another worker was faster with the rest of a tenant's limit: decide again, one worker at a time.
                return try await intake(keys, behindGates: true, decide: decide)
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

    private func intake(
        _ keys: IntakeKeys,
        behindGates: Bool,
        decide: @escaping @Sendable (IntakeFacts) -> IntakeChanges
    ) async throws -> Recorded<[ClaimedSend]> {
        try await pool.withTransaction { transaction in
            let facts = try readFacts(keys, behindGates: behindGates, transaction)
            let changes = decide(facts)
            let outbox = try write(changes, keys, at: facts.now, transaction)
            return Recorded(changes.sends, outbox: outbox)
        }
    }

    /// Locks and reads, in the one order of locks; the time is read when the last lock is granted.
    private func readFacts(
        _ keys: IntakeKeys,
        behindGates: Bool,
        _ transaction: Transaction
    ) throws -> IntakeFacts {
        let results = try transaction.run([
            Self.lockSlots(keys), Self.lockWindows(keys), Self.insertRequests(keys), Self.readRequests(keys),
            Self.readTime(keys),
        ])
        let slots = try Self.slots(results[0])
        let requests = try Self.requests(results[3])
        var time = try IntakeTime(results[4])
        let known = Set(slots.values).union(requests.values.compactMap(\.verificationID)).subtracting(keys.fresh)
        var verifications: [VerificationID: StoredVerification] = [:]
        if !known.isEmpty {
            let locked = try transaction.run([Self.lockVerifications(known), Self.readTime(keys)])
            verifications = try Self.verifications(locked[0])
            time = try IntakeTime(locked[1])
        }
        if behindGates || keys.mayBreakLimit(time.usage) {
            time = try IntakeTime(transaction.run([Self.lockTenants(keys), Self.readTime(keys)])[1])
        }
        return IntakeFacts(
            now: time.now,
            requests: requests,
            slots: slots,
            verifications: verifications,
            windows: try Self.windows(results[1]),
            tenantUsage: time.usage
        )
    }

    private func write(
        _ changes: IntakeChanges,
        _ keys: IntakeKeys,
        at now: Timestamp,
        _ transaction: Transaction
    ) throws -> [OutboxRecord] {
        var statements: [Statement] = []
        if !changes.insertedVerifications.isEmpty {
            statements.append(Self.insertVerifications(changes.insertedVerifications))
        }
        if !changes.updatedVerifications.isEmpty {
            statements.append(Self.updateVerifications(changes.updatedVerifications))
        }
        if !changes.requests.isEmpty { statements.append(Self.updateRequests(changes.requests)) }
        if !changes.slots.isEmpty { statements.append(Self.updateSlots(changes.slots)) }
        if !changes.windows.isEmpty { statements.append(Self.updateWindows(changes.windows)) }
        if !changes.sends.isEmpty { statements.append(insertSends(changes.sends)) }
        let outbox = statements.count
        if !changes.outbox.isEmpty { statements.append(insertOutbox(changes.outbox)) }
        if let admit = Self.admitTenants(changes.admissions, keys, at: now) { statements.append(admit) }
        let results = try transaction.commit(statements)
        return changes.outbox.isEmpty ? [] : try Self.handedOver(changes.outbox, results[outbox])
    }
}

extension PostgresError {
    /// Whether a value is at fault (classes 22 and 23 of PostgreSQL 15, appendix A), so that trying again is of no use.
    fileprivate var isOfData: Bool {
        guard code == .server, let sqlState else { return false }
        return sqlState.isOfClass("22") || sqlState.isOfClass("23")
    }
}

extension SQLState {
    /// Raised by `courier.admit_tenants`.
    fileprivate static let tenantLimitWouldBreak = SQLState(rawValue: "CC001")
}
