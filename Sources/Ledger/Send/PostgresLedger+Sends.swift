// SPDX-License-Identifier: Apache-2.0

package import Formats
package import PostgresClient
package import Verification

extension PostgresLedger {
    package static func insertSends(_ sends: [ClaimedSend]) -> Statement {
        Statement(
            """
            INSERT INTO courier.send (
                id, verification_id, number, generation, request_id, state, deadline, resend_window_ms, validity_ms,
                rendering, trace
            )
            SELECT
                unnest($1::uuid[]), unnest($2::uuid[]), unnest($3::int2[]), unnest($4::int4[]), unnest($5::text[]),
                'claimed', unnest($6::timestamptz[]), unnest($7::int4[]), unnest($8::int4[]), unnest($9::text[]),
                unnest($10::bytea[])
            """,
            [
                .uuids(sends.map(\.id.uuid.value)), .uuids(sends.map(\.reference.verificationID.uuid.value)),
                .int16s(sends.map(\.reference.number)), .int32s(sends.map(\.generation)),
                .texts(sends.map(\.furtherRequestID)),
                .timestamps(sends.map(\.deadline.microseconds)),
                .int32s(sends.map(\.reference.resendWindow.milliseconds)),
                .int32s(sends.map { $0.reference.validity?.milliseconds }), .texts(sends.map(\.rendering.json)),
                .bytesArray(sends.map { $0.reference.trace?.bytes }),
            ]
        )
    }

    /// Marks claims, except rows that another transaction locks.
    ///
    /// The claims of those rows are released, and they delay no other send.
    package func markDispatching(_ claims: [ClaimedSend], tried: [SendClaim: [String]]) async throws -> Set<SendClaim> {
        let claims = Self.inLockOrder(claims)
        let parcels = openParcels.groups(of: claims.map(\.claim))
        do {
            return try await pool.withTransaction { transaction in
                try Self.sendClaims(transaction.commit([mark(claims, in: parcels, tried: tried)])[0])
            }
        } catch let error as PostgresError where error.isLockConflict {
            return try await pool.withTransaction { transaction in
                let existing = Self.existingSends(claims.map(\.id))
                let free = try Self.sendIDs(transaction.run([existing.forUpdateSkippingLocked])[0])
                let pairs = zip(claims, parcels).filter { free.contains($0.0.id) }
                return try Self.sendClaims(
                    transaction.commit([mark(pairs.map(\.0), in: pairs.map(\.1), tried: tried)])[0]
                )
            }
        }
    }

    /// Makes the statement that marks claims; `parcels` has the parcel of each claim.
    package func mark(
        _ claims: [ClaimedSend],
        in parcels: [UUIDValue?],
        tried: [SendClaim: [String]] = [:]
    ) -> Statement {
        Statement(
            """
            UPDATE courier.send s
            SET state = 'dispatching', tried_providers = u.tried_providers
            FROM (
                SELECT unnest($1::uuid[]) AS id, unnest($2::int4[]) AS fence, unnest($4::text[]) AS tried_providers,
                    unnest($5::uuid[]) AS parcel
            ) AS u
            WHERE s.id = u.id AND s.fence = u.fence AND s.state IN ('claimed', 'dispatching')
              AND s.deadline > clock_timestamp()
              -- At least half of the lease is left for the call.
              AND u.parcel = ANY (ARRAY(
                  SELECT p.id FROM courier.parcel p
                  WHERE p.id = ANY ($6) AND p.lease_until > clock_timestamp() + $3 * interval '1 microsecond' / 2
              ))
            RETURNING s.id, s.fence
            """,
            [
                .uuids(claims.map(\.id.uuid.value)), .int32s(claims.map(\.reference.fence)), leaseParameter,
                .texts(claims.map { tried[$0.claim]?.joined(separator: " ") }), .uuids(parcels.map(\.?.value)),
                .uuids(Set(parcels.compactMap(\.self)).map(\.value)),
            ]
        )
    }

    package func release(_ claims: [ClaimedSend]) async throws {
        let sends = Self.inLockOrder(claims).map(\.reference)
        let leaving = openParcels.plan(ending: sends.map(\.claim))
        let statements = Self.leaveParcels(leaving, sends.map { Delay(send: $0, after: .zero) })
        try await pool.withTransaction { _ = try $0.commit([Self.handBack(sends)] + statements) }
        openParcels.finish(leaving)
    }

    /// Sorts claims by send id, the lock order: a statement locks rows in the order of its input.
    private static func inLockOrder(_ claims: [ClaimedSend]) -> [ClaimedSend] { claims.sorted { $0.id < $1.id } }

    static func handBack(_ claims: [SendReference]) -> Statement {
        Statement(
            """
            UPDATE courier.send s
            SET state = 'pending', fence = s.fence + 1
            FROM (SELECT unnest($1::uuid[]) AS id, unnest($2::int4[]) AS fence) AS u
            WHERE s.id = u.id AND s.fence = u.fence AND s.state IN ('claimed', 'dispatching')
            """,
            [.uuids(claims.map(\.id.uuid.value)), .int32s(claims.map(\.fence))]
        )
    }

    /// Reads the existing sends and their states, in lock order.
    static func existingSends(_ ids: [SendID]) -> Statement {
        Statement(
            """
            SELECT s.id, s.state FROM courier.send s
            WHERE s.id = ANY ($1::uuid[]) AND s.id BETWEEN $2 AND $3 ORDER BY s.id
            """,
            bounded(ids.map(\.uuid.value))
        )
    }

    /// Settles sends for workers that got their outcome after they had lost the claim.
    ///
    /// Only the worker that was cut off has its provider's answer. Meanwhile a sweep has marked the send unknown, or
    /// claimed it for its one repeat, which then is not sent. Once the repeat may have been sent, only an acceptance
    /// counts: some provider accepted the message. A send that a receipt settled is not unknown any more.
    static func settleLateSends(_ results: [SendResult]) -> Statement {
        Statement(
            """
            WITH settled AS (
                UPDATE courier.send s
                SET state = u.state, attempts = greatest(s.attempts, u.attempts), provider = u.provider,
                    provider_message_id = u.provider_message_id, segments = u.segments, encoding = u.encoding,
                    error_code = u.error_code, rendering = ''
                FROM (
                    SELECT
                        unnest($1::uuid[]) AS id, unnest($2::int4[]) AS fence, unnest($3::text[]) AS state,
                        unnest($4::int2[]) AS attempts, unnest($5::text[]) AS provider,
                        unnest($6::text[]) AS provider_message_id, unnest($7::int2[]) AS segments,
                        unnest($8::text[]) AS encoding, unnest($9::text[]) AS error_code
                ) AS u
                WHERE s.id = u.id AND CASE
                    WHEN s.fence = u.fence THEN s.state = 'unknown'
                    -- Only who was at a provider knows anything.
                    WHEN s.fence < u.fence OR NOT s.repeated OR u.provider IS NULL THEN false
                    WHEN u.state = 'sent' THEN s.state IN ('pending', 'claimed', 'dispatching', 'unknown')
                    ELSE s.state IN ('pending', 'claimed') END
                RETURNING s.id, u.fence, u.provider_message_id
            ), named AS (
                INSERT INTO courier.message (id, digest)
                SELECT t.id, hashtextextended(t.provider_message_id, 0) FROM settled t
                WHERE t.provider_message_id IS NOT NULL AND NOT EXISTS (
                    SELECT FROM courier.message m
                    WHERE m.digest = hashtextextended(t.provider_message_id, 0) AND m.id = t.id
                )
            )
            SELECT t.id, t.fence FROM settled t
            """,
            outcomes(results)
        )
    }

    /// Stores a provider's message id that a worker got after it had lost its claim; a receipt finds the send by it.
    ///
    /// The state does not change, since the send has been claimed again.
    static func keepEvidence(_ results: [SendResult]) -> Statement {
        Statement(
            """
            WITH kept AS (
                UPDATE courier.send s
                SET provider = u.provider, provider_message_id = u.provider_message_id
                FROM (
                    SELECT
                        unnest($1::uuid[]) AS id, unnest($2::text[]) AS provider,
                        unnest($3::text[]) AS provider_message_id
                ) AS u
                WHERE s.id = u.id AND s.state = 'unknown' AND s.provider_message_id IS NULL
                RETURNING s.id, s.provider_message_id
            )
            INSERT INTO courier.message (id, digest)
            SELECT k.id, hashtextextended(k.provider_message_id, 0) FROM kept k
            """,
            [
                .uuids(results.map(\.send.id.uuid.value)), .texts(results.map(\.attempt?.provider)),
                .texts(results.map(\.attempt?.messageID)),
            ]
        )
    }

    /// Writes settled verifications and their events with new claims, and commits.
    func write(
        _ changes: OutcomeDecision.Changes,
        _ pack: Pack,
        _ transaction: Transaction,
        after earlier: [Statement] = [],
        claiming claims: [SendReference] = []
    ) throws -> [OutboxRecord] {
        var statements = earlier
        if !changes.verifications.isEmpty {
            statements.append(Self.updateVerifications(changes.verifications, pack))
        }
        return try commit(statements, claiming: claims, publishing: changes.outbox, pack, transaction)
    }

    /// Writes results whose claims still hold; a write with an old fence changes nothing.
    ///
    /// A final outcome clears the rendering: the target of a link may identify a person.
    package static func settleSends(_ results: [SendResult]) -> Statement {
        Statement(
            """
            WITH settled AS (
                UPDATE courier.send s
                SET state = u.state, attempts = u.attempts, repeated = s.repeated OR u.repeated,
                    fence = CASE u.state WHEN 'pending' THEN s.fence + 1 ELSE s.fence END,
                    refused_by = coalesce(u.refused_by, s.refused_by),
                    rendering = CASE u.state WHEN 'pending' THEN s.rendering ELSE '' END,
                    -- A send of unknown outcome names a provider only if it is known which one may have the message.
                    provider = CASE u.state WHEN 'unknown' THEN u.provider ELSE coalesce(u.provider, s.provider) END,
                    provider_message_id = u.provider_message_id,
                    segments = u.segments, encoding = u.encoding, error_code = u.error_code
                FROM (
                    SELECT
                        unnest($1::uuid[]) AS id, unnest($2::int4[]) AS fence, unnest($3::text[]) AS state,
                        unnest($4::int2[]) AS attempts, unnest($5::text[]) AS provider,
                        unnest($6::text[]) AS provider_message_id, unnest($7::int2[]) AS segments,
                        unnest($8::text[]) AS encoding, unnest($9::text[]) AS error_code, unnest($10::bool[]) AS repeated,
                        unnest($11::text[]) AS refused_by
                ) AS u
                WHERE s.id = u.id AND s.fence = u.fence
                  AND CASE u.state WHEN 'delivered' THEN s.state = 'sent'
                      ELSE s.state IN ('pending', 'claimed', 'dispatching') END
                RETURNING s.id, u.fence, u.provider_message_id
            ), named AS (
                INSERT INTO courier.message (id, digest)
                SELECT t.id, hashtextextended(t.provider_message_id, 0) FROM settled t
                WHERE t.provider_message_id IS NOT NULL
            )
            SELECT t.id, t.fence FROM settled t
            """,
            outcomes(results) + [
                .bools(results.map { $0.disposition == .repeatOnce }),
                .texts(results.map { $0.refusers.isEmpty ? nil : $0.refusers.joined(separator: " ") }),
            ]
        )
    }

    /// The columns of outcomes: id, fence, state, attempts, provider, message id, segments, encoding, error code.
    private static func outcomes(_ results: [SendResult]) -> [Parameter] {
        [
            .uuids(results.map(\.send.id.uuid.value)), .int32s(results.map(\.send.fence)),
            .texts(results.map(\.disposition.sendState)), .int16s(results.map(\.attempts)),
            .texts(results.map(\.attempt?.provider)), .texts(results.map(\.attempt?.messageID)),
            .int16s(results.map { $0.attempt?.segments.map { Int16(clamping: $0) } }),
            .texts(results.map(\.attempt?.encoding)), .texts(results.map(\.attempt?.errorCode)),
        ]
    }

    /// Reads rows of `id, fence`.
    static func sendClaims(_ rows: Rows) throws -> Set<SendClaim> {
        var claims = Set<SendClaim>(minimumCapacity: rows.count)
        for row in rows { claims.insert(SendClaim(SendID(UUIDValue(try row.uuid(0))), fence: try row.int32(1))) }
        return claims
    }

    static func sendIDs(_ rows: Rows, in state: String? = nil) throws -> Set<SendID> {
        var ids = Set<SendID>(minimumCapacity: rows.count)
        for row in rows where try state == nil || row.text(1) == state {
            ids.insert(SendID(UUIDValue(try row.uuid(0))))
        }
        return ids
    }
}

extension ClaimedSend {
    /// The id of its request; nil when that request began the verification.
    fileprivate var furtherRequestID: String? {
        reference.requestID == verification?.requestID ? nil : reference.requestID
    }
}

extension SendDisposition {
    var retryAfter: Duration? {
        switch self {
        case .retry(let after): after
        case .repeatOnce: .zero
        case .sent, .delivered, .failed, .unknown, .expiredUnsent: nil
        }
    }
}

extension Duration {
    /// Whole milliseconds, clamped to the range of the column.
    var milliseconds: Int32 { Int32(clamping: microseconds / 1000) }
}

extension SendReference {
    /// Reads the first eight columns.
    ///
    /// `id, verification_id, fence, number, request_id, resend_window_ms, validity_ms, trace`.
    init(_ row: Row) throws {
        self.init(
            id: SendID(UUIDValue(try row.uuid(0))),
            verificationID: VerificationID(UUIDValue(try row.uuid(1))),
            fence: try row.int32(2),
            number: try row.int16(3),
            requestID: try row.text(4),
            resendWindow: .milliseconds(try row.int32(5)),
            validity: try row.optionalInt32(6).map { .milliseconds($0) },
            trace: try row.optionalBytes(7).flatMap { TraceContext(bytes: $0) }
        )
    }
}
