// SPDX-License-Identifier: Apache-2.0

package import Formats
package import PostgresClient
package import Verification

/// The fleet's one reader of conversions: its lease, what it reads, and the blocks that it writes.
extension PostgresLedger {
    package func elect(_ reader: UUIDValue, lease: Duration, judgedTo: Timestamp?) async throws -> ReaderTurn? {
        let statement = Self.takeReading(reader, lease: lease, judgedTo: judgedTo)
        let rows = try await pool.withSession { session in try session.execute(statement) }
        for row in rows {
            let countedTo = try Timestamp(row, 1)
            return ReaderTurn(
                now: try Timestamp(row, 0),
                countedTo: countedTo.microseconds == .min ? nil : countedTo
            )
        }
        return nil
    }

    package func resign(_ reader: UUIDValue) async throws {
        let statement = Self.endReading(reader)
        _ = try await pool.withSession { session in try session.execute(statement) }
    }

    package func conversions(from: Timestamp, to: Timestamp) async throws -> [String: [ConversionSample]] {
        let statement = Self.readConversions(from: from, to: to)
        let rows = try await pool.withSession { session in try session.execute(statement) }
        return try ConversionSample.byTenant(rows)
    }

    package func brakeBlocks() async throws -> [TenantBlock] {
        let statement = Self.readBlocks(endedWithin: BrakeRules.memory)
        return try Self.blocks(try await pool.withSession { session in try session.execute(statement) })
    }

    package func blocksInForce() async throws -> [BrakeTurn: Timestamp?] {
        let rows = try await pool.withSession { session in try session.execute(Self.readBlocksInForce) }
        var refusals: [BrakeTurn: Timestamp?] = [:]
        for row in rows {
            let key = try BrakeKey(scope: row.text(1), row.int64(2))
            let refusedAt = try row.optionalTimestamp(3).map { Timestamp(microseconds: $0) }
            refusals.updateValue(refusedAt, forKey: BrakeTurn(tenant: try row.text(0), key: key))
        }
        return refusals
    }

    package func store(_ blocks: [TenantBlock], by reader: UUIDValue) async throws -> Bool {
        let blocks = blocks.sorted {
            ($0.tenant, $0.block.key.scope.word, $0.block.key.value)
                < ($1.tenant, $1.block.key.scope.word, $1.block.key.value)
        }
        return try await write([Self.storeBlocks(blocks)], as: reader)
    }

    package func conversionHours(since: Timestamp) async throws -> ConversionCounts {
        let statement = Self.readHours(since: since)
        return try ConversionCounts(try await pool.withSession { session in try session.execute(statement) })
    }

    package func add(
        _ counts: ConversionCounts,
        from start: Timestamp?,
        upTo end: Timestamp,
        by reader: UUIDValue
    ) async throws -> Bool {
        // After a COMMIT whose answer was lost the row is ahead of the reader, whose turn ends: nothing is added twice.
        let start = start ?? Timestamp(microseconds: .min)
        return try await write([Self.addHours(counts), Self.endCount(at: end)], as: reader, countedTo: start)
    }

    /// Runs statements in one transaction, if this worker is still the reader and the counts end before a time.
    func write(
        _ statements: [Statement],
        as reader: UUIDValue,
        countedTo end: Timestamp = Timestamp(microseconds: .max)
    ) async throws -> Bool {
        let lock = Self.lockReader(reader, countedTo: end)
        return try await pool.withTransaction { transaction in
            guard try transaction.run([lock])[0].count == 1 else { return false }
            try transaction.commit(statements)
            return true
        }
    }
}

// MARK: - Statements

extension PostgresLedger {
    /// Acquires the lease if it has expired, or extends it for its holder; any other worker changes and locks nothing.
    static func takeReading(_ reader: UUIDValue, lease: Duration, judgedTo: Timestamp?) -> Statement {
        Statement(
            """
            UPDATE courier.conversion_reader r
            SET reader = $1, lease_until = clock_timestamp() + $2 * interval '1 microsecond',
                judged_to = greatest(r.judged_to, $3)
            WHERE r.is_only_row AND (r.reader = $1 OR r.lease_until < clock_timestamp())
            RETURNING clock_timestamp(), r.counted_to
            """,
            [
                .uuid(reader.value), .int64(lease.microseconds),
                .timestamp(microsecondsSinceUnixEpoch: judgedTo?.microseconds),
            ]
        )
    }

    static func endReading(_ reader: UUIDValue) -> Statement {
        Statement(
            "UPDATE courier.conversion_reader r SET lease_until = '-infinity' WHERE r.is_only_row AND r.reader = $1",
            [.uuid(reader.value)]
        )
    }

    static func lockReader(_ reader: UUIDValue, countedTo end: Timestamp) -> Statement {
        Statement(
            """
            SELECT r.reader FROM courier.conversion_reader r
            WHERE r.is_only_row AND r.reader = $1 AND r.counted_to <= $2
            FOR UPDATE
            """,
            [.uuid(reader.value), .timestamp(microsecondsSinceUnixEpoch: end.microseconds)]
        )
    }

    /// Reads a slice of verifications by the times in their ids: a range of the primary key.
    package static func readConversions(from: Timestamp, to: Timestamp) -> Statement {
        Statement(
            """
            SELECT v.id, v.tenant, v.region, v.client_key, v.prefix_key, v.range_key, v.confirmed,
                courier.conversion_outcome(v.state, v.status, v.reason, v.used_providers),
                v.used_providers, v.sends_used, CASE WHEN v.state = 'approved' THEN v.ended_at END
            FROM courier.verification v
            WHERE v.id >= $1 AND v.id < $2 AND v.channel = 'sms' AND NOT v.fictional
            """,
            [.uuid(from.uuidFloor), .uuid(to.uuidFloor)]
        )
    }

    static let readBlocksInForce = Statement(
        """
        SELECT b.tenant, b.scope, b.key, b.refused_at
        FROM courier.brake_block b WHERE b.state <> 'ended' AND b.changes_at > '-infinity'
        """
    ).repeated

    /// Inserts or updates blocks, which are in the order of their keys.
    ///
    /// A block that an operator has ended stays so until its scope trips again.
    static func storeBlocks(_ blocks: [TenantBlock]) -> Statement {
        let (all, keys) = (blocks.map(\.block), blocks.map(\.block.key))
        return Statement(
            """
            INSERT INTO courier.brake_block AS b (
                tenant, scope, key, region, state, asleep, began_at, changes_at, length_ms, trips, expected, observed,
                probes_sent, probes_approved
            )
            SELECT
                unnest($1::text[]), unnest($2::text[]), unnest($3::int8[]), unnest($4::text[]), unnest($5::text[]),
                unnest($6::bool[]), unnest($7::timestamptz[]), unnest($8::timestamptz[]), unnest($9::int8[]),
                unnest($10::int4[]), unnest($11::float8[]), unnest($12::float8[]), unnest($13::int4[]),
                unnest($14::int4[])
            ON CONFLICT (tenant, scope, key) DO UPDATE
            SET region = excluded.region, state = excluded.state, asleep = excluded.asleep,
                began_at = excluded.began_at, changes_at = excluded.changes_at, length_ms = excluded.length_ms,
                trips = excluded.trips, expected = excluded.expected, observed = excluded.observed,
                probes_sent = excluded.probes_sent, probes_approved = excluded.probes_approved,
                refused = CASE WHEN b.state = 'ended' AND excluded.state <> 'ended' THEN 0 ELSE b.refused END
            WHERE b.state <> 'ended' OR excluded.state = 'ended' OR excluded.began_at > b.began_at
            """,
            [
                .texts(blocks.map(\.tenant)), .texts(keys.map(\.scope.word)), .int64s(keys.map(\.value)),
                .texts(all.map(\.region)), .texts(all.map(\.state.rawValue)), .bools(blocks.map(\.isAsleep)),
                .timestamps(all.map(\.beganAt.microseconds)), .timestamps(all.map(\.changesAt.microseconds)),
                .int64s(all.map { $0.length.microseconds / 1000 }), .int32s(all.map { Int32(clamping: $0.trips) }),
                .doubles(all.map(\.shortfall.expected)), .doubles(all.map { Double($0.shortfall.observed) }),
                .int32s(all.map { Int32(clamping: $0.probesSent) }),
                .int32s(all.map { Int32(clamping: $0.probesApproved) }),
            ]
        )
    }

    static func readHours(since: Timestamp) -> Statement {
        Statement(
            """
            SELECT c.hour, c.tenant, c.region, c.confirmed, sum(c.verifications)::int8, sum(c.approved)::int8,
                sum(c.sends)::int8, sum(c.within_15)::int8, sum(c.within_30)::int8, sum(c.within_60)::int8,
                sum(c.within_120)::int8, sum(c.within_240)::int8, sum(c.within_600)::int8
            FROM courier.conversion c
            WHERE c.hour >= $1
            GROUP BY c.hour, c.tenant, c.region, c.confirmed
            """,
            [.timestamp(microsecondsSinceUnixEpoch: since.microseconds)]
        )
    }

    static func addHours(_ counts: ConversionCounts) -> Statement {
        let rows = counts.groups.sorted { one, other in
            let (one, other) = (one.key, other.key)
            return (one.hour, one.tenant, one.region, one.provider, one.isConfirmed ? 1 : 0)
                < (other.hour, other.tenant, other.region, other.provider, other.isConfirmed ? 1 : 0)
        }
        func numbers(_ number: (ConversionCounts.Count) -> Int) -> Parameter {
            .int64s(rows.map { Int64(number($0.value)) })
        }
        let groups: [Parameter] = [
            .timestamps(rows.map(\.key.hour.microseconds)), .texts(rows.map(\.key.tenant)),
            .texts(rows.map(\.key.region)), .texts(rows.map(\.key.provider)), .bools(rows.map(\.key.isConfirmed)),
        ]
        let sums = [numbers(\.verifications), numbers(\.approved), numbers(\.sends)]
        let firsts = [numbers(\.firsts), numbers(\.firstsApproved)]
        let within = ApprovalCurve.ages.indices.map { index in numbers { $0.within[index] } }
        return Statement(
            """
            INSERT INTO courier.conversion AS c (
                hour, tenant, region, provider, confirmed, verifications, approved, sends, within_15, within_30,
                within_60, within_120, within_240, within_600, first_sends, first_approved
            )
            SELECT
                unnest($1::timestamptz[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]),
                unnest($5::bool[]), unnest($6::int8[]), unnest($7::int8[]), unnest($8::int8[]), unnest($9::int8[]),
                unnest($10::int8[]), unnest($11::int8[]), unnest($12::int8[]), unnest($13::int8[]),
                unnest($14::int8[]), unnest($15::int8[]), unnest($16::int8[])
            ON CONFLICT (hour, tenant, region, provider, confirmed) DO UPDATE
            SET verifications = c.verifications + excluded.verifications, approved = c.approved + excluded.approved,
                sends = c.sends + excluded.sends, within_15 = c.within_15 + excluded.within_15,
                within_30 = c.within_30 + excluded.within_30, within_60 = c.within_60 + excluded.within_60,
                within_120 = c.within_120 + excluded.within_120, within_240 = c.within_240 + excluded.within_240,
                within_600 = c.within_600 + excluded.within_600,
                first_sends = c.first_sends + excluded.first_sends,
                first_approved = c.first_approved + excluded.first_approved
            """,
            groups + sums + within + firsts
        )
    }

    static func endCount(at end: Timestamp) -> Statement {
        Statement(
            "UPDATE courier.conversion_reader r SET counted_to = $1 WHERE r.is_only_row",
            [.timestamp(microsecondsSinceUnixEpoch: end.microseconds)]
        )
    }
}

extension Timestamp {
    /// The smallest UUIDv7 of the millisecond, as `courier.uuid_floor` makes it.
    var uuidFloor: UInt128 { UInt128(clamping: milliseconds) << 80 }
}
