// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
package import Verification

extension PostgresLedger {
    package func receive(
        _ receipts: [ReceivedReceipt],
        deadLetters: [OutboxRecord]
    ) async throws -> Recorded<ReceiptResult> {
        try await Self.mappingDataErrors {
            do {
                return try await receive(receipts, deadLetters, leaving: [])
            } catch let error as PostgresError where error.isLockConflict {
                // Sends and verifications are locked without waiting, so the conflict is on a stored receipt: another
                // worker has inserted the same one and not committed.
                let ids = try await uncommittedReceipts(receipts)
                if ids.isEmpty { throw error }
                return try await receive(receipts, deadLetters, leaving: ids)
            }
        }
    }

    private func receive(
        _ receipts: [ReceivedReceipt],
        _ deadLetters: [OutboxRecord],
        leaving ids: Set<UUIDValue>
    ) async throws -> Recorded<ReceiptResult> {
        let free = ids.isEmpty ? receipts : receipts.filter { !ids.contains($0.id) }
        return try await pool.withTransaction { transaction in
            let recorded = try settle(free, adding: deadLetters, transaction)
            let waiting = ids.isEmpty ? [] : receipts.filter { ids.contains($0.id) }
            return Recorded(ReceiptResult(settled: recorded.value, waiting: waiting), outbox: recorded.outbox)
        }
    }

    private func uncommittedReceipts(_ receipts: [ReceivedReceipt]) async throws -> Set<UUIDValue> {
        try await pool.withTransaction { transaction in
            let rows = try transaction.run([LockedKeys.uncommitted("receipt", receipts.map(\.id.value))])[0]
            return Set(try rows.map { UUIDValue(try $0.uuid(0)) })
        }
    }

    package func sweepReceipts() async throws -> Recorded<Int> {
        try await pool.withTransaction { transaction in
            let rows = try transaction.run([lockDueReceipts()])[0]
            let keys = keys.current
            let receipts = try rows.mapKnown { try ReceivedReceipt($0, keys: keys) }
            if receipts.isEmpty { return Recorded(0, outbox: []) }
            let recorded = try settle(receipts, after: [Self.deleteReceipts(receipts)], transaction)
            return Recorded(receipts.count, outbox: recorded.outbox)
        }
    }

    /// Settles the receipts whose rows can be locked without waiting.
    ///
    /// A receipt whose rows another transaction locks is stored, like one that arrives before its send.
    private func settle(
        _ receipts: [ReceivedReceipt],
        after earlier: [Statement] = [],
        adding deadLetters: [OutboxRecord] = [],
        _ transaction: Transaction
    ) throws -> Recorded<[ReportedSend]> {
        let reported = try reported(receipts, transaction)
        let ids = Set(reported.locked.map(\.reference.verificationID))
        let locked = try transaction.run([Self.lockVerifications(ids).skippingLocked, Self.unpublished(ids)])
        let verifications = try Self.verifications(locked[0])
        var missing = ids.subtracting(verifications.keys)
        if !missing.isEmpty {
            missing = try Self.verificationIDs(transaction.run([Self.existingVerifications(missing)])[0])
        }
        let sends = reported.locked.filter { !missing.contains($0.reference.verificationID) }
        let free = Set(sends.map(\.reference.id))
        let changes = ReceiptDecision.settle(
            receipts,
            sends: sends,
            held: reported.existing.filter { !free.contains($0.reference.id) },
            verifications: verifications,
            now: reported.now,
            settings: settings
        )
        let pack = Pack(behind: try Self.verificationIDs(locked[1]))
        let outbox = try commit(
            earlier + write(changes, pack),
            publishing: deadLetters + changes.outbox,
            pack,
            transaction
        )
        return Recorded(Array(changes.sends.values), outbox: outbox)
    }

    private func write(_ changes: ReceiptDecision.Changes, _ pack: Pack) -> [Statement] {
        var statements: [Statement] = []
        if !changes.sends.isEmpty { statements.append(Self.settleReportedSends(changes.sends.values)) }
        if !changes.waiting.isEmpty { statements.append(insertReceipts(changes.waiting)) }
        let verifications = changes.verifications.values.sorted { $0.id < $1.id }
        if !verifications.isEmpty { statements.append(Self.updateVerifications(verifications, pack)) }
        return statements
    }

    /// Maximum age of a send at which nearly all receipts arrive.
    private static let usualAge = Duration.seconds(48 * 3600)

    /// Reads the sends that receipts name, locks those that no other transaction locks, and reads the time.
    ///
    /// A message that is not found among young sends is searched in every day that is kept.
    private func reported(_ receipts: [ReceivedReceipt], _ transaction: Transaction) throws -> ReportedSends {
        let young = Self.reportedSends(receipts.map(\.receipt), youngerThan: Self.usualAge)
        let answers = try transaction.run([young, young.forUpdateSkippingLocked, .clock])
        var sends = ReportedSends(now: try answers[2].clock())
        try sends.add(answers)
        let ids = Set(sends.existing.map(\.reference.id))
        let messages = Set(sends.existing.map { [$0.provider, $0.messageID] })
        let others = receipts.map(\.receipt).filter { receipt in
            guard let message = receipt.providerMessageID, !messages.contains([receipt.provider, message]) else {
                return false
            }
            return receipt.sendID.map { !ids.contains($0) } ?? true
        }
        if !others.isEmpty {
            let old = Self.reportedSends(others)
            try sends.add(transaction.run([old, old.forUpdateSkippingLocked]))
        }
        return sends
    }

    /// The sends that receipts name, those of them that are locked, and the time of that.
    private struct ReportedSends {
        var existing: [ReportedSend] = []
        var locked: [ReportedSend] = []
        let now: Timestamp

        mutating func add(_ answers: [Rows]) throws {
            existing += try answers[0].mapKnown { try ReportedSend($0) }
            locked += try answers[1].mapKnown { try ReportedSend($0) }
        }
    }
}

// The sends that receipts name, with those that are locked and the time of the locks.

extension PostgresLedger {
    /// Reads the sends that receipts name by send id or by the provider's message id, in lock order.
    ///
    /// The search by message id covers sends younger than `age`: the server skips the partitions before.
    static func reportedSends(
        _ receipts: [Receipt],
        youngerThan age: Duration? = nil
    ) -> Statement {
        Statement(
            """
            WITH reported AS MATERIALIZED (
                SELECT unnest($1::uuid[]) AS id
                UNION
                SELECT m.id FROM courier.message m
                WHERE m.digest = ANY (ARRAY(SELECT hashtextextended(unnest($2::text[]), 0)))
                  -- The first 48 bits of a UUIDv7 are its milliseconds.
                  AND m.id >= encode(
                      substring(int8send(greatest(0,
                          extract(epoch FROM statement_timestamp() - $3 * interval '1 microsecond') * 1000
                      )::bigint) FROM 3) || '\\x00000000000000000000'::bytea, 'hex'
                  )::uuid
            )
            SELECT s.id, s.verification_id, s.fence, s.number,
                coalesce(
                    s.request_id, (SELECT v.request_id FROM courier.verification v WHERE v.id = s.verification_id), ''
                ),
                s.resend_window_ms, s.validity_ms, s.trace, s.state, s.provider, s.provider_message_id, s.segments,
                s.encoding, s.error_code
            FROM courier.send s
            WHERE s.id = ANY (ARRAY(SELECT r.id FROM reported r))
              AND s.id BETWEEN (SELECT r.id FROM reported r ORDER BY r.id LIMIT 1)
                  AND (SELECT r.id FROM reported r ORDER BY r.id DESC LIMIT 1)
              AND (s.id = ANY ($1) OR s.provider_message_id = ANY ($2))
            ORDER BY s.id
            """,
            [
                .uuids(receipts.compactMap(\.sendID?.uuid.value)),
                .texts(receipts.compactMap(\.providerMessageID)),
                // A century: no limit in practice.
                .int64((age ?? .seconds(100 * 366 * 86_400)).microseconds),
            ]
        )
    }

    /// Writes the states of reported sends.
    ///
    /// The rows were locked when they were read; the fence proves that they are still the ones that were read.
    static func settleReportedSends(_ sends: some Collection<ReportedSend>) -> Statement {
        let rows = sends.sorted { $0.reference.id < $1.reference.id }
        return Statement(
            """
            WITH settled AS (
                UPDATE courier.send s
                SET state = u.state, provider = u.provider, provider_message_id = u.provider_message_id,
                    error_code = u.error_code
                FROM (
                    SELECT
                        unnest($1::uuid[]) AS id, unnest($2::int4[]) AS fence, unnest($3::text[]) AS state,
                        unnest($4::text[]) AS provider, unnest($5::text[]) AS provider_message_id,
                        unnest($6::text[]) AS error_code
                ) AS u
                WHERE s.id = u.id AND s.fence = u.fence
                RETURNING s.id, u.provider_message_id
            )
            INSERT INTO courier.message (id, digest)
            SELECT t.id, hashtextextended(t.provider_message_id, 0) FROM settled t
            WHERE t.provider_message_id IS NOT NULL AND NOT EXISTS (
                SELECT FROM courier.message m
                WHERE m.digest = hashtextextended(t.provider_message_id, 0) AND m.id = t.id
            )
            """,
            [
                .uuids(rows.map(\.reference.id.uuid.value)), .int32s(rows.map(\.reference.fence)),
                .texts(rows.map(\.state.rawValue)), .texts(rows.map(\.provider)), .texts(rows.map(\.messageID)),
                .texts(rows.map(\.errorCode)),
            ]
        )
    }

    func lockDueReceipts() -> Statement {
        Statement(
            """
            SELECT r.id, r.provider, r.send_id, r.provider_message_id, r.status, r.reason, r.error_code, r.sealed,
                r.seal_key, r.received_at, r.tries
            FROM courier.receipt r
            WHERE r.due_at < statement_timestamp()
            ORDER BY r.due_at
            LIMIT $1
            FOR UPDATE SKIP LOCKED
            """,
            [.int32(settings.sweepSize)]
        )
    }

    func insertReceipts(_ waiting: [(receipt: ReceivedReceipt, due: Timestamp)]) -> Statement {
        let rows = waiting.sorted { $0.receipt.id.value < $1.receipt.id.value }
        let receipts = rows.map(\.receipt)
        let keys = keys.current
        return Statement(
            """
            INSERT INTO courier.receipt (
                id, provider, send_id, provider_message_id, status, reason, error_code, sealed, seal_key, received_at,
                tries, due_at
            )
            SELECT u.id, u.provider, u.send_id, u.provider_message_id, u.status, u.reason, u.error_code, u.sealed, $11,
                coalesce(u.received_at, clock_timestamp()), u.tries, u.due_at
            FROM (
                SELECT
                    unnest($1::uuid[]) AS id, unnest($2::text[]) AS provider, unnest($3::uuid[]) AS send_id,
                    unnest($4::text[]) AS provider_message_id, unnest($5::text[]) AS status,
                    unnest($6::text[]) AS reason, unnest($7::text[]) AS error_code, unnest($8::bytea[]) AS sealed,
                    unnest($9::timestamptz[]) AS received_at, unnest($10::int2[]) AS tries,
                    unnest($12::timestamptz[]) AS due_at
            ) AS u
            ON CONFLICT (id) DO NOTHING
            """,
            [
                .uuids(receipts.map(\.id.value)), .texts(receipts.map(\.receipt.provider)),
                .uuids(receipts.map { $0.receipt.sendID?.uuid.value }),
                .texts(receipts.map(\.receipt.providerMessageID)), .texts(receipts.map(\.receipt.status.rawValue)),
                .texts(receipts.map { $0.receipt.reason?.rawValue }), .texts(receipts.map(\.receipt.errorCode)),
                .bytesArray(receipts.map { $0.sealedRecord(keys) }),
                .timestamps(receipts.map { $0.receivedAt?.microseconds }),
                .int16s(receipts.map { $0.tries == .max ? .max : $0.tries + 1 }), .int16(keys.seal.activeID.number),
                .timestamps(rows.map(\.due.microseconds)),
            ]
        )
    }

    static func deleteReceipts(_ receipts: [ReceivedReceipt]) -> Statement {
        Statement(
            "DELETE FROM courier.receipt r WHERE r.id = ANY ($1::uuid[])",
            [.uuids(receipts.map(\.id.value))]
        )
    }
}

// MARK: - Rows

extension ReportedSend {
    fileprivate init(_ row: Row) throws {
        guard let state = State(rawValue: try row.text(8)) else { throw UnknownValue() }
        self.init(
            reference: try SendReference(row),
            state: state,
            provider: try row.optionalText(9),
            messageID: try row.optionalText(10),
            segments: try row.optionalInt16(11),
            encoding: try row.optionalText(12),
            errorCode: try row.optionalText(13)
        )
    }
}

extension ReceivedReceipt {
    init(_ row: Row, keys: CodeKeys) throws {
        guard let status = Receipt.Status(rawValue: try row.text(4)) else { throw UnknownValue() }
        let id = UUIDValue(try row.uuid(0))
        let key = keys.seal[KeyID(try row.int16(8))]
        let record = try key.flatMap { RecipientSeal.open(try row.bytes(7), in: id.bytes, key: $0) }
        self.init(
            id: id,
            receipt: Receipt(
                provider: try row.text(1),
                sendID: try row.optionalUUID(2).map { SendID(UUIDValue($0)) },
                providerMessageID: try row.optionalText(3),
                status: status,
                reason: try row.optionalText(5).flatMap(UndeliveredReason.init(rawValue:)),
                errorCode: try row.optionalText(6)
            ),
            record: InboundRecord(stored: record ?? []),
            receivedAt: try Timestamp(row, 9),
            tries: try row.int16(10)
        )
    }

    fileprivate func sealedRecord(_ keys: CodeKeys) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        let sealed = RecipientSeal.seal(record.stored, in: id.bytes, key: keys.seal.active, using: &generator)
        guard let sealed else {
            preconditionFailure("AES-GCM seals any bytes with a key of 32 bytes")
        }
        return sealed
    }
}
