// SPDX-License-Identifier: Apache-2.0

package import PostgresClient
package import Verification

extension PostgresLedger {
    package func insertSends(_ sends: [ClaimedSend]) -> Statement {
        Statement(
            """
            INSERT INTO courier.send (
                id, verification_id, number, generation, request_id, state, lease_until, deadline, resend_window_ms,
                validity_ms, rendering, traceparent
            )
            SELECT u.id, u.verification_id, u.number, u.generation, u.request_id, 'claimed',
                clock_timestamp() + $11 * interval '1 microsecond', u.deadline, u.resend_window_ms, u.validity_ms,
                u.rendering, u.traceparent
            FROM (
                SELECT
                    unnest($1::uuid[]) AS id, unnest($2::uuid[]) AS verification_id, unnest($3::int2[]) AS number,
                    unnest($4::int4[]) AS generation, unnest($5::text[]) AS request_id,
                    unnest($6::timestamptz[]) AS deadline, unnest($7::int4[]) AS resend_window_ms,
                    unnest($8::int4[]) AS validity_ms, unnest($9::text[]) AS rendering,
                    unnest($10::text[]) AS traceparent
            ) AS u
            """,
            [
                .uuids(sends.map(\.id.uuid.value)), .uuids(sends.map(\.reference.verificationID.uuid.value)),
                .int16s(sends.map(\.reference.number)), .int32s(sends.map(\.generation)),
                .texts(sends.map(\.reference.requestID)),
                .timestamps(sends.map(\.deadline.microseconds)),
                .int32s(sends.map(\.reference.resendWindow.milliseconds)),
                .int32s(sends.map { $0.reference.validity?.milliseconds }), .texts(sends.map(\.rendering.json)),
                .texts(sends.map { $0.reference.trace?.traceparent }), leaseParameter,
            ]
        )
    }

    /// Rows that another transaction locks are left out: their claims go back, and nobody else's send waits for them.
    package func markDispatching(_ claims: [ClaimedSend], tried: [SendID: [String]]) async throws -> Set<SendID> {
        let claims = Self.inLockOrder(claims)
        do {
            return try await pool.withTransaction { transaction in
                try Self.sendIDs(transaction.commit([mark(claims, tried: tried)])[0])
            }
        } catch let error as PostgresError where error.isLockConflict {
            return try await pool.withTransaction { transaction in
                let free = try Self.sendIDs(transaction.run([Self.lockFreeSends(claims.map(\.id))])[0])
                return try Self.sendIDs(
                    transaction.commit([mark(claims.filter { free.contains($0.id) }, tried: tried)])[0]
                )
            }
        }
    }

    package func mark(_ claims: [ClaimedSend], tried: [SendID: [String]] = [:]) -> Statement {
        Statement(
            """
            UPDATE courier.send s
            SET state = 'dispatching', tried_providers = u.tried_providers
            FROM (
                SELECT unnest($1::uuid[]) AS id, unnest($2::int4[]) AS fence, unnest($4::text[]) AS tried_providers
            ) AS u
            WHERE s.id = u.id AND s.fence = u.fence AND s.state IN ('claimed', 'dispatching')
              AND s.deadline > clock_timestamp()
              -- At least half of the lease is left for the call. In this form the time implies no index: where few sends
              -- are leased, each of them would be compared with each of the batch.
              AND (s.lease_until > clock_timestamp() + $3 * interval '1 microsecond' / 2) IS TRUE
            RETURNING s.id
            """,
            [
                .uuids(claims.map(\.id.uuid.value)), .int32s(claims.map(\.reference.fence)), leaseParameter,
                .texts(claims.map { tried[$0.id]?.joined(separator: " ") }),
            ]
        )
    }

    package func release(_ claims: [ClaimedSend]) async throws {
        let statement = Self.handBack(Self.inLockOrder(claims))
        try await pool.withTransaction { transaction in
            _ = try transaction.commit([statement])
        }
    }

    /// Rows are locked in the order in which a statement is given them, as everywhere in that of their ids.
    private static func inLockOrder(_ claims: [ClaimedSend]) -> [ClaimedSend] { claims.sorted { $0.id < $1.id } }

    static func handBack(_ claims: [ClaimedSend]) -> Statement {
        Statement(
            """
            UPDATE courier.send s
            SET state = 'pending', lease_until = clock_timestamp()
            FROM (SELECT unnest($1::uuid[]) AS id, unnest($2::int4[]) AS fence) AS u
            WHERE s.id = u.id AND s.fence = u.fence AND s.state IN ('claimed', 'dispatching')
            """,
            [.uuids(claims.map(\.id.uuid.value)), .int32s(claims.map(\.reference.fence))]
        )
    }

    /// Locks sends that nobody else locks, in the order of their ids.
    static func lockFreeSends(_ ids: [SendID]) -> Statement {
        Statement(
            "SELECT s.id FROM courier.send s WHERE s.id = ANY ($1::uuid[]) ORDER BY s.id FOR UPDATE SKIP LOCKED",
            [.uuids(ids.map(\.uuid.value))]
        )
    }

    static func existingSends(_ ids: [SendID]) -> Statement {
        Statement("SELECT s.id FROM courier.send s WHERE s.id = ANY ($1::uuid[])", [.uuids(ids.map(\.uuid.value))])
    }

    /// Extends the leases of claims that still hold: their worker knows what became of them, and waits to write it.
    func extendLeases(_ results: [SendResult]) -> Statement {
        Statement(
            """
            UPDATE courier.send s
            SET lease_until = clock_timestamp() + $3 * interval '1 microsecond'
            FROM (SELECT unnest($1::uuid[]) AS id, unnest($2::int4[]) AS fence) AS u
            WHERE s.id = u.id AND s.fence = u.fence AND s.state IN ('claimed', 'dispatching')
            """,
            [.uuids(results.map(\.send.id.uuid.value)), .int32s(results.map(\.send.fence)), leaseParameter]
        )
    }

    /// What a worker learned after its claim was lost: the provider's id, by which a receipt finds the send.
    ///
    /// It changes no state: only a receipt settles what is unknown.
    static func keepEvidence(_ results: [SendResult]) -> Statement {
        Statement(
            """
            UPDATE courier.send s
            SET provider = u.provider, provider_message_id = u.provider_message_id
            FROM (
                SELECT
                    unnest($1::uuid[]) AS id, unnest($2::text[]) AS provider,
                    unnest($3::text[]) AS provider_message_id
            ) AS u
            WHERE s.id = u.id AND s.state = 'unknown' AND s.provider_message_id IS NULL
            """,
            [
                .uuids(results.map(\.send.id.uuid.value)), .texts(results.map(\.attempt?.provider)),
                .texts(results.map(\.attempt?.messageID)),
            ]
        )
    }

    /// Writes settled verifications and their events, and commits.
    func write(
        _ changes: OutcomeDecision.Changes,
        _ pack: UUIDValue,
        _ transaction: Transaction,
        after earlier: [Statement] = []
    ) throws -> [OutboxRecord] {
        var statements = earlier
        if !changes.verifications.isEmpty {
            statements.append(Self.updateVerifications(changes.verifications, pack: pack))
        }
        let outbox = try numbered(changes.outbox, transaction)
        let inserts = insertOutbox(outbox, pack: pack)
        let answers = try transaction.commit(statements + inserts)
        return try handedOver(outbox, pack: pack, answers.suffix(inserts.count))
    }

    /// Takes results whose claim still holds; a write with an old fence changes nothing.
    ///
    /// What a message was made from goes when it is over: the target of a link may name a person.
    package func settleSends(_ results: [SendResult]) -> Statement {
        Statement(
            """
            UPDATE courier.send s
            SET state = u.state, attempts = u.attempts, repeated = s.repeated OR u.repeated,
                lease_until = clock_timestamp() + u.retry_after_ms * interval '1 millisecond',
                refused_by = coalesce(u.refused_by, s.refused_by),
                rendering = CASE u.state WHEN 'pending' THEN s.rendering ELSE '' END,
                -- Where nobody knows who has it, nobody is named.
                provider = CASE u.state WHEN 'unknown' THEN u.provider ELSE coalesce(u.provider, s.provider) END,
                provider_message_id = u.provider_message_id,
                segments = u.segments, encoding = u.encoding, error_code = u.error_code
            FROM (
                SELECT
                    unnest($1::uuid[]) AS id, unnest($2::int4[]) AS fence, unnest($3::text[]) AS state,
                    unnest($4::int2[]) AS attempts, unnest($5::int4[]) AS retry_after_ms,
                    unnest($6::text[]) AS provider, unnest($7::text[]) AS provider_message_id,
                    unnest($8::int2[]) AS segments, unnest($9::text[]) AS encoding, unnest($10::text[]) AS error_code,
                    unnest($11::bool[]) AS repeated, unnest($12::text[]) AS refused_by
            ) AS u
            WHERE s.id = u.id AND s.fence = u.fence
              AND CASE u.state WHEN 'delivered' THEN s.state = 'sent'
                  ELSE s.state IN ('pending', 'claimed', 'dispatching') END
            RETURNING s.id
            """,
            [
                .uuids(results.map(\.send.id.uuid.value)), .int32s(results.map(\.send.fence)),
                .texts(results.map(\.disposition.sendState)), .int16s(results.map(\.attempts)),
                .int32s(results.map(\.disposition.retryAfter?.milliseconds)),
                .texts(results.map(\.attempt?.provider)), .texts(results.map(\.attempt?.messageID)),
                .int16s(results.map { $0.attempt?.segments.map { Int16(clamping: $0) } }),
                .texts(results.map(\.attempt?.encoding)), .texts(results.map(\.attempt?.errorCode)),
                .bools(results.map { $0.disposition == .repeatOnce }),
                .texts(results.map { $0.refusers.isEmpty ? nil : $0.refusers.joined(separator: " ") }),
            ]
        )
    }

    static func sendIDs(_ rows: Rows) throws -> Set<SendID> {
        var ids = Set<SendID>(minimumCapacity: rows.count)
        for row in rows { ids.insert(SendID(UUIDValue(try row.uuid(0)))) }
        return ids
    }
}

extension SendDisposition {
    fileprivate var retryAfter: Duration? {
        switch self {
        case .retry(let after): after
        case .repeatOnce: .zero
        case .sent, .delivered, .failed, .unknown, .expiredUnsent: nil
        }
    }
}

extension Duration {
    /// Whole milliseconds, clamped to what the column holds.
    var milliseconds: Int32 { Int32(clamping: microseconds / 1000) }
}
