// SPDX-License-Identifier: Apache-2.0

import PostgresClient
package import Verification

extension PostgresLedger {
    package func intake(
        _ candidates: [Candidate],
        decide: @escaping @Sendable (IntakeFacts) -> IntakeChanges
    ) async throws -> Recorded<[ClaimedSend]> {
        let keys = IntakeKeys(candidates)
        return try await pool.withTransaction { transaction in
            let facts = try readFacts(keys, transaction)
            let changes = decide(facts)
            let outbox = try write(changes, transaction)
            return Recorded(changes.sends, outbox: outbox)
        }
    }

    private func readFacts(_ keys: IntakeKeys, _ transaction: Transaction) throws -> IntakeFacts {
        let results = try transaction.run([
            lockSlots(keys), insertRequests(keys), readRequests(keys), Statement("SELECT clock_timestamp()"),
        ])
        var slots: [SlotKey: VerificationID] = [:]
        for row in results[0] {
            let purpose = try Purpose(stored: row.text(1))
            let key = SlotKey(tenant: try row.text(0), purpose: purpose, fingerprint: try row.bytes(2))
            slots[key] = VerificationID(UUIDValue(try row.uuid(3)))
        }
        var requests: [RequestKey: KnownRequest] = [:]
        for row in results[2] {
            let key = RequestKey(tenant: try row.text(0), requestID: try row.text(1))
            requests[key] = try KnownRequest(row)
        }
        let known = Set(slots.values).union(requests.values.compactMap(\.verificationID)).subtracting(keys.fresh)
        if known.isEmpty {
            return IntakeFacts(now: try results[3].clock(), requests: requests, slots: slots, verifications: [:])
        }
        let locked = try transaction.run([
            Self.lockVerifications(known), Statement("SELECT clock_timestamp()"),
        ])
        return IntakeFacts(
            now: try locked[1].clock(),
            requests: requests,
            slots: slots,
            verifications: try Self.verifications(locked[0])
        )
    }

    private func write(_ changes: IntakeChanges, _ transaction: Transaction) throws -> [OutboxRecord] {
        var statements: [Statement] = []
        if !changes.insertedVerifications.isEmpty {
            statements.append(Self.insertVerifications(changes.insertedVerifications))
        }
        if !changes.updatedVerifications.isEmpty {
            statements.append(Self.updateVerifications(changes.updatedVerifications))
        }
        if !changes.requests.isEmpty { statements.append(updateRequests(changes.requests)) }
        if !changes.slots.isEmpty { statements.append(updateSlots(changes.slots)) }
        if !changes.sends.isEmpty { statements.append(insertSends(changes.sends)) }
        if !changes.outbox.isEmpty { statements.append(insertOutbox(changes.outbox)) }
        let results = try transaction.commit(statements)
        guard !changes.outbox.isEmpty, let inserted = results.last else { return [] }
        return try Self.handedOver(changes.outbox, inserted)
    }
}

/// The keys of a batch, each once, in the order in which rows are locked.
private struct IntakeKeys: Sendable {
    let slots: [(key: SlotKey, fresh: VerificationID)]
    let requests: [(key: RequestKey, candidate: Candidate)]
    let fresh: Set<VerificationID>

    init(_ candidates: [Candidate]) {
        var slots: [SlotKey: VerificationID] = [:]
        var requests: [RequestKey: Candidate] = [:]
        for candidate in candidates {
            if let slot = candidate.slot, slots[slot] == nil { slots[slot] = candidate.verificationID }
            if requests[candidate.key] == nil { requests[candidate.key] = candidate }
        }
        self.slots = slots.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        self.requests = requests.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        fresh = Set(candidates.map(\.verificationID))
    }
}

// MARK: - Statements

extension PostgresLedger {
    /// A new slot points to the candidate's own verification; an existing one is locked and tells its own.
    private func lockSlots(_ keys: IntakeKeys) -> Statement {
        Statement(
            """
            INSERT INTO courier.slot (tenant, purpose, fingerprint, verification_id)
            SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[], $4::uuid[])
            ON CONFLICT (tenant, purpose, fingerprint) DO UPDATE SET verification_id = slot.verification_id
            RETURNING tenant, purpose, fingerprint, verification_id
            """,
            [
                .texts(keys.slots.map(\.key.tenant)),
                .texts(keys.slots.map(\.key.purpose.rawValue)),
                .bytesArray(keys.slots.map(\.key.fingerprint)),
                .uuids(keys.slots.map(\.fresh.uuid.value)),
            ]
        )
    }

    /// A request id is written before its decision, so that another worker with the same id waits for it.
    ///
    /// In the first minute of a day it is also written to the day before, where a transaction that began before
    /// midnight may still be writing the same id: ids are unique within a partition only.
    private func insertRequests(_ keys: IntakeKeys) -> Statement {
        Statement(
            """
            INSERT INTO courier.request (day, tenant, request_id, digest, source, source_offset, verification_id)
            SELECT d.day, r.*
            FROM (
                SELECT DISTINCT (moment AT TIME ZONE 'UTC')::date
                FROM unnest(ARRAY[statement_timestamp() - interval '1 minute', statement_timestamp()]) AS moment
            ) AS d(day)
            CROSS JOIN unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::bigint[], $6::uuid[])
                AS r(tenant, request_id, digest, source, source_offset, verification_id)
            ON CONFLICT (tenant, request_id, day) DO NOTHING
            """,
            [
                .texts(keys.requests.map(\.key.tenant)),
                .texts(keys.requests.map(\.key.requestID)),
                .bytesArray(keys.requests.map(\.candidate.digest)),
                .texts(keys.requests.map(\.candidate.record.source)),
                .int64s(keys.requests.map(\.candidate.record.offset)),
                .uuids(keys.requests.map(\.candidate.verificationID.uuid.value)),
            ]
        )
    }

    /// Yesterday's rows and today's: what is older is too old to be sent, whatever its id.
    private func readRequests(_ keys: IntakeKeys) -> Statement {
        Statement(
            """
            SELECT DISTINCT ON (r.tenant, r.request_id)
                r.tenant, r.request_id, r.digest, r.source, r.source_offset, r.verification_id, r.status, r.reason, r.rule
            FROM unnest($1::text[], $2::text[]) AS k(tenant, request_id)
            JOIN courier.request r ON r.tenant = k.tenant AND r.request_id = k.request_id
            WHERE r.day BETWEEN (statement_timestamp() AT TIME ZONE 'UTC')::date - 1
                AND (statement_timestamp() AT TIME ZONE 'UTC')::date
            ORDER BY r.tenant, r.request_id, r.day
            """,
            [.texts(keys.requests.map(\.key.tenant)), .texts(keys.requests.map(\.key.requestID))]
        )
    }

    private func updateRequests(_ requests: [RequestKey: KnownRequest]) -> Statement {
        let rows = requests.sorted { $0.key < $1.key }
        return Statement(
            """
            UPDATE courier.request r
            SET source = u.source, source_offset = u.source_offset, verification_id = u.verification_id,
                status = u.status, reason = u.reason, rule = u.rule
            FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::uuid[], $6::text[], $7::text[], $8::text[])
                AS u(tenant, request_id, source, source_offset, verification_id, status, reason, rule)
            WHERE r.tenant = u.tenant AND r.request_id = u.request_id
              AND r.day BETWEEN (statement_timestamp() AT TIME ZONE 'UTC')::date - 1
                  AND (statement_timestamp() AT TIME ZONE 'UTC')::date
            """,
            [
                .texts(rows.map(\.key.tenant)),
                .texts(rows.map(\.key.requestID)),
                .texts(rows.map(\.value.source)),
                .int64s(rows.map(\.value.offset)),
                .uuids(rows.map(\.value.verificationID?.uuid.value)),
                .texts(rows.map(\.value.status?.rawValue)),
                .texts(rows.map(\.value.reason)),
                .texts(rows.map(\.value.rule)),
            ]
        )
    }

    private func updateSlots(_ slots: [SlotKey: VerificationID]) -> Statement {
        let rows = slots.sorted { $0.key < $1.key }
        return Statement(
            """
            UPDATE courier.slot s
            SET verification_id = u.verification_id
            FROM unnest($1::text[], $2::text[], $3::bytea[], $4::uuid[])
                AS u(tenant, purpose, fingerprint, verification_id)
            WHERE s.tenant = u.tenant AND s.purpose = u.purpose AND s.fingerprint = u.fingerprint
            """,
            [
                .texts(rows.map(\.key.tenant)),
                .texts(rows.map(\.key.purpose.rawValue)),
                .bytesArray(rows.map(\.key.fingerprint)),
                .uuids(rows.map(\.value.uuid.value)),
            ]
        )
    }
}

extension KnownRequest {
    fileprivate init(_ row: Row) throws {
        self.init(
            source: try row.text(3),
            offset: try row.int64(4),
            digest: try row.bytes(2),
            verificationID: try row.optionalUUID(5).map { VerificationID(UUIDValue($0)) },
            status: try row.optionalText(6).flatMap(DeliveryStatus.init(rawValue:)),
            reason: try row.optionalText(7),
            rule: try row.optionalText(8)
        )
    }
}
