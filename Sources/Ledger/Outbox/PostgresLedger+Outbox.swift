// SPDX-License-Identifier: Apache-2.0

package import Formats
package import PostgresClient
package import Verification

extension PostgresLedger {
    /// Returns the records with the event ids that they have on the server's timeline.
    func numbered(_ records: [OutboxRecord], _ transaction: Transaction) throws -> [OutboxRecord] {
        if records.isEmpty { return [] }
        let timeline = try transaction.constant(Statement("SELECT courier.timeline()")).onlyRow.int32(0)
        return timeline == 1 ? records : records.map { $0.written(on: timeline) }
    }

    /// Inserts records with a lease of this worker, which publishes them at once.
    package func insertOutbox(_ outbox: SplitOutbox) -> [Statement] {
        let pack = outbox.packed.isEmpty ? [] : [insertPack(outbox.pack, outbox.packed)]
        return pack + (outbox.rows.isEmpty ? [] : [insertRows(outbox.rows)])
    }

    /// Commits a transaction with a parcel of its new claims and with its records; returns the records to publish.
    ///
    /// The statement `last` acquires locks that others wait for. If a trial fails, only its own statements are undone.
    func commit(
        _ statements: [Statement],
        claiming claims: [SendReference] = [],
        publishing records: [OutboxRecord],
        _ pack: Pack,
        last: Statement? = nil,
        isTrial: Bool = false,
        _ transaction: Transaction
    ) throws -> [OutboxRecord] {
        let outbox = pack.split(try numbered(records, transaction))
        let parcel = UUIDValue.random
        let earlier = statements + (claims.isEmpty ? [] : [insertParcel(parcel, claims)])
        let inserts = insertOutbox(outbox)
        let all = earlier + inserts + [last].compactMap(\.self)
        let answers = isTrial ? try transaction.tryCommit(all) : try transaction.commit(all)
        if !claims.isEmpty { openParcels.add(parcel, claims.map(\.claim), for: settings.lease * 2) }
        return try handedOver(outbox, answers.dropFirst(earlier.count).prefix(inserts.count))
    }

    /// Inserts records as rows, parked if they follow an unpublished one of their stream.
    ///
    /// The unpublished one may be in this batch or in the table. A parked record has no lease: a sweep claims it after
    /// the earlier one is deleted, or together with it. So a verification's events keep their order whichever worker
    /// publishes them.
    private func insertRows(_ records: [OutboxRecord]) -> Statement {
        Statement(
            """
            INSERT INTO courier.outbox (stream, sequence, dead_letter, key, value, headers, lease_until)
            SELECT u.stream, u.sequence, u.dead_letter, u.key, u.value, u.headers, CASE
                WHEN u.follows OR u.sequence > 1 AND (
                    EXISTS (SELECT FROM courier.outbox o WHERE o.stream = u.stream AND o.sequence < u.sequence)
                    OR EXISTS (
                        SELECT FROM courier.outbox_pack p
                        WHERE p.id = (SELECT v.pack FROM courier.verification v WHERE v.id = u.stream)
                    )
                ) THEN clock_timestamp() - interval '1 microsecond'
                ELSE clock_timestamp() + $7 * interval '1 microsecond' END
            FROM (
                SELECT
                    unnest($1::uuid[]) AS stream, unnest($2::int4[]) AS sequence, unnest($3::bool[]) AS dead_letter,
                    unnest($4::bytea[]) AS key, unnest($5::bytea[]) AS value, unnest($6::bytea[]) AS headers,
                    unnest($8::bool[]) AS follows
            ) AS u
            ON CONFLICT (stream, sequence) DO NOTHING
            RETURNING stream, sequence, lease_until <= clock_timestamp()
            """,
            [
                .uuids(records.map(\.stream.value)), .int32s(records.map(\.sequence)),
                .bools(records.map(\.isDeadLetter)), .bytesArray(records.map(\.key)),
                .bytesArray(records.map(\.value)), .bytesArray(records.map { RecordField.encode($0.headers) }),
                leaseParameter, .bools(Self.follow(records)),
            ]
        )
    }

    /// True for each record that follows another one of its stream.
    private static func follow(_ records: [OutboxRecord]) -> [Bool] {
        var streams = Set<UUIDValue>(minimumCapacity: records.count)
        return records.map { !streams.insert($0.stream).inserted }
    }

    /// The records that this worker publishes itself, in order, by the answers to their committed inserts.
    func handedOver(_ outbox: SplitOutbox, _ answers: some Sequence<Rows>) throws -> [OutboxRecord] {
        let packed = outbox.packed.map { OutboxKey($0) }
        if !packed.isEmpty { openPacks.add(outbox.pack, packed, for: settings.lease) }
        if outbox.rows.isEmpty { return outbox.packed }
        var handedOver = Set(packed)
        for rows in answers {
            for row in rows where try !row.bool(2) {
                handedOver.insert(OutboxKey(stream: UUIDValue(try row.uuid(0)), sequence: try row.int32(1)))
            }
        }
        return outbox.records.filter { handedOver.contains(OutboxKey($0)) }
    }

    package func sweepOutbox() async throws -> [OutboxRecord] {
        try await unpublished.during { try await takeOverOutbox() }
    }

    private func takeOverOutbox() async throws -> [OutboxRecord] {
        let start = unpublished.next()
        let statements = [Self.oldestDue(since: start), Self.unpackDue(since: start), takeOverOutbox(since: start)]
        return try await pool.withTransaction { transaction in
            let answers = try transaction.commit(statements)
            let look = try answers[0].onlyRow
            // Read before this sweep's own claims, so the next sweep still starts at them and passes their dead index
            // entries.
            let oldest = try look.optionalTimestamp(0).map { Timestamp(microseconds: $0) }
            unpublished.note(oldest.map { .some(since: $0) } ?? .nothing, at: try Timestamp(look, 1))
            var records: [OutboxRecord] = []
            for row in answers[2] where try row.bool(6) {
                records.append(
                    OutboxRecord(
                        stream: UUIDValue(try row.uuid(0)),
                        sequence: try row.int32(1),
                        isDeadLetter: try row.bool(2),
                        key: try row.optionalBytes(3),
                        value: try row.optionalBytes(4),
                        headers: RecordField.decode(try row.bytes(5))
                    )
                )
            }
            return records.sorted { $0.sequence < $1.sequence }
        }
    }

    /// Reads the due time of the longest waiting record, if any, and the current time.
    static func oldestDue(since start: Timestamp?) -> Statement {
        Statement(
            """
            SELECT least((
                SELECT o.lease_until FROM courier.outbox o
                WHERE o.lease_until < statement_timestamp() AND o.lease_until >= coalesce($1::timestamptz, '-infinity')
                ORDER BY o.lease_until LIMIT 1
            ), (
                SELECT p.lease_until FROM courier.outbox_pack p
                WHERE p.lease_until < statement_timestamp() AND p.lease_until >= coalesce($1::timestamptz, '-infinity')
                ORDER BY p.lease_until LIMIT 1
            )), statement_timestamp()
            """,
            [.timestamp(microsecondsSinceUnixEpoch: start?.microseconds)]
        )
    }

    /// Claims the first records of each stream, up to a number and a size, or one record that is larger.
    ///
    /// A sweep reads four times as many. If there are more, records that wait for an earlier one are postponed by a
    /// second, and records far behind in their stream for as long as the ones before them may take. So they never block
    /// the other records, however many they are.
    func takeOverOutbox(since start: Timestamp? = nil) -> Statement {
        Statement(
            """
            WITH due AS (
                -- 1. What nobody holds, the longest waiting first.
                SELECT o.stream, o.sequence, o.lease_until,
                    coalesce(octet_length(o.key), 0) + coalesce(octet_length(o.value), 0) + octet_length(o.headers) AS size
                FROM courier.outbox o
                WHERE o.lease_until < statement_timestamp() AND o.lease_until >= coalesce($5::timestamptz, '-infinity')
                ORDER BY o.lease_until
                LIMIT 4 * $1
                FOR UPDATE SKIP LOCKED
            ), placed AS (
                -- 2. How many of its stream are unpublished before it, and how many of them are due: numbers have no gap.
                SELECT d.*,
                    EXISTS (
                        SELECT FROM courier.outbox_pack p
                        WHERE p.id = (SELECT v.pack FROM courier.verification v WHERE v.id = d.stream)
                    ) AS is_packed,
                    d.sequence - (SELECT min(e.sequence) FROM courier.outbox e WHERE e.stream = d.stream) AS earlier,
                    row_number() OVER (PARTITION BY d.stream ORDER BY d.sequence) - 1 AS earlier_due,
                    min(d.lease_until) OVER (PARTITION BY d.stream) AS since
                FROM due d
            ), judged AS (
                -- 3. It goes when all of them go, and no earlier one is in a pack.
                SELECT p.*, p.earlier = p.earlier_due AND p.earlier < $4 AND NOT p.is_packed AS goes FROM placed p
            ), counted AS (
                -- 4. How many and how much go with it.
                SELECT j.stream, j.sequence, j.earlier, j.goes,
                    count(*) FILTER (WHERE j.goes) OVER before AS place,
                    sum(j.size) FILTER (WHERE j.goes) OVER before AS bytes
                FROM judged j
                WINDOW before AS (ORDER BY j.since, j.stream, j.sequence)
            )
            -- 5. Ours for one lease.
            UPDATE courier.outbox o
            SET lease_until = clock_timestamp() + CASE
                WHEN c.goes THEN $2 * interval '1 microsecond'
                WHEN c.earlier >= $4 THEN c.earlier * interval '5 milliseconds'
                ELSE interval '1 second' END
            FROM counted c
            WHERE o.stream = c.stream AND o.sequence = c.sequence
              AND CASE
                  WHEN c.goes THEN c.place = 1 OR c.place <= $1 AND c.bytes <= $3
                  ELSE (SELECT count(*) FROM due) = 4 * $1 END
            RETURNING o.stream, o.sequence, o.dead_letter,
                CASE WHEN c.goes THEN o.key END, CASE WHEN c.goes THEN o.value END,
                CASE WHEN c.goes THEN o.headers ELSE ''::bytea END, c.goes
            """,
            [
                .int32(settings.sweepSize), leaseParameter, .int64(settings.sweepBytes),
                .int32(Self.longestRun), .timestamp(microsecondsSinceUnixEpoch: start?.microseconds),
            ]
        )
    }

    /// Maximum of records of one stream in a sweep: they are published one after the other.
    private static let longestRun: Int32 = 32

    /// Deletes published records, without waiting until the deletion is on disk.
    ///
    /// A record that reappears after a crash is published again, as the same event. It never reappears behind a later
    /// record of its stream: the commit of the later one's own transaction writes the log up to this deletion.
    @discardableResult
    package func published(_ records: [OutboxRecord]) async throws -> Bool {
        let plan = openPacks.plan(ending: records.map { OutboxKey($0) })
        do {
            return try await forget(plan, Self.forget(plan))
        } catch let error as PostgresError where error.isLockConflict {
            // Rows that another transaction locks are left to a sweep, and delay no other record.
            return try await forget(plan, Self.forget(plan, skippingLocked: true))
        }
    }

    private func forget(_ plan: OpenPacks.Plan, _ statements: [Statement]) async throws -> Bool {
        if statements.isEmpty {
            openPacks.finish(plan)
            return false
        }
        let answers = try await pool.withTransaction { try $0.commit(statements) }
        var held: Set<Int64> = []
        if !plan.ids.isEmpty {
            // The first answer is that of `set_config`; the answers of the packs follow.
            let kinds = (plan.ended.isEmpty ? 0 : 1) + (plan.split.isEmpty ? 0 : 1)
            let gone = Set(try answers[1...kinds].flatMap { try $0.map { try $0.int64(0) } })
            held = try await heldPacks(plan, gone)
        }
        openPacks.finish(plan, held: held)
        return try answers.last?.contains { try $0.bool(0) } ?? false
    }

    /// Finds the packs that another transaction locks, among those that were not deleted now.
    ///
    /// A pack that does not exist was claimed by a sweep after its lease expired. Its records may be rows now: they are
    /// deleted.
    private func heldPacks(_ plan: OpenPacks.Plan, _ gone: Set<Int64>) async throws -> Set<Int64> {
        let others = plan.ids.filter { !gone.contains($0) }
        if others.isEmpty { return [] }
        return try await pool.withTransaction { transaction in
            let held = Set(try transaction.run([Self.existingPacks(others)])[0].map { try $0.int64(0) })
            let lost = plan.ended.filter { !gone.contains($0.key) && !held.contains($0.key) }.flatMap(\.value)
            if !lost.isEmpty { try transaction.commit([Self.deleteUnlocked(lost)]) }
            return held
        }
    }

    /// Makes one round trip that deletes records, and reads whether records are parked behind them.
    package static func forget(_ plan: OpenPacks.Plan, skippingLocked: Bool = false) -> [Statement] {
        var statements: [Statement] = []
        if !plan.ended.isEmpty { statements.append(deletePacks(Array(plan.ended.keys))) }
        if !plan.split.isEmpty { statements.append(unpack(plan.split)) }
        if !plan.single.isEmpty {
            statements.append(skippingLocked ? deleteUnlocked(plan.single) : delete(plan.single))
        }
        guard !statements.isEmpty else { return [] }
        let streams = (plan.ended.flatMap(\.value) + plan.freed + plan.single).map(\.stream)
        let setting = Statement("SELECT set_config('synchronous_commit', 'off', true)").repeated
        return [setting] + statements + [isAnyParked(behind: streams)]
    }

    package func release(_ records: [OutboxRecord], after pause: Duration) async throws {
        let plan = openPacks.plan(splitting: records.map { OutboxKey($0) })
        let unpack = plan.split.isEmpty ? [] : [Self.unpack(plan.split)]
        let statements = unpack + [Self.shortenLeases(of: records.map(\.stream), to: pause)]
        let answers = try await pool.withTransaction { try $0.commit(statements) }
        let gone = plan.split.isEmpty ? [] : Set(try answers[0].map { try $0.int64(0) })
        openPacks.finish(plan, held: Set(plan.ids).subtracting(gone))
    }

    package func recall(_ streams: [UUIDValue], within limit: Duration) async throws {
        let statement = Self.shortenLeases(of: streams, to: .zero, below: limit)
        try await pool.withTransaction { _ = try $0.commit([statement]) }
    }

    /// Shortens the leases of whole streams to `pause`, if they are no longer than `limit`.
    ///
    /// Whole streams, since the records behind a published one are published with it. Parked records stay parked.
    static func shortenLeases(of streams: [UUIDValue], to pause: Duration, below limit: Duration? = nil) -> Statement {
        Statement(
            """
            UPDATE courier.outbox o
            SET lease_until = clock_timestamp() + $2 * interval '1 microsecond'
            FROM (
                SELECT e.stream, e.sequence
                FROM courier.outbox e
                -- In this form the time implies no index: the records are looked up by their streams.
                WHERE e.stream = ANY ($1)
                  AND (e.lease_until > clock_timestamp() + $2 * interval '1 microsecond') IS TRUE
                  AND (e.lease_until > clock_timestamp() + $3 * interval '1 microsecond') IS NOT TRUE
                ORDER BY e.stream, e.sequence
                FOR UPDATE SKIP LOCKED
            ) AS u
            WHERE o.stream = u.stream AND o.sequence = u.sequence
            """,
            [.uuids(streams.map(\.value)), .int64(pause.microseconds), .int64(limit?.microseconds)]
        )
    }

    static func isAnyParked(behind streams: [UUIDValue]) -> Statement {
        Statement(
            """
            SELECT EXISTS (
                -- In this form the time implies no index: the records are looked up by their streams.
                SELECT FROM courier.outbox o WHERE o.stream = ANY ($1) AND (o.lease_until <= clock_timestamp()) IS TRUE
            )
            """,
            [.uuids(streams.map(\.value))]
        )
    }

    static func deleteUnlocked(_ records: [OutboxKey]) -> Statement {
        Statement(
            """
            DELETE FROM courier.outbox o
            USING (
                SELECT e.stream, e.sequence FROM courier.outbox e
                WHERE e.stream = ANY ($1)
                  AND ((e.stream, e.sequence) IN (SELECT unnest($1::uuid[]), unnest($2::int4[]))) IS TRUE
                ORDER BY e.stream, e.sequence
                FOR UPDATE SKIP LOCKED
            ) AS u
            WHERE o.stream = u.stream AND o.sequence = u.sequence
            """,
            [.uuids(records.map(\.stream.value)), .int32s(records.map(\.sequence))]
        )
    }

    /// Deletes records through the index on their streams, whatever size of the table the planner assumes.
    ///
    /// The table is nearly empty at one moment and full at the next. A join that was planned for a table with one row
    /// would scan the table, and compare every record in it with every one of the batch.
    static func delete(_ records: [OutboxKey]) -> Statement {
        Statement(
            """
            DELETE FROM courier.outbox o
            WHERE o.stream = ANY ($1)
              -- IS TRUE keeps the planner from making a join of IN: it looks up the keys in a hash table.
              AND ((o.stream, o.sequence) IN (SELECT unnest($1::uuid[]), unnest($2::int4[]))) IS TRUE
            """,
            [.uuids(records.map(\.stream.value)), .int32s(records.map(\.sequence))]
        )
    }
}
