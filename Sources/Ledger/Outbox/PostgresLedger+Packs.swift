// SPDX-License-Identifier: Apache-2.0

package import Formats
package import PostgresClient
package import Verification

/// A pack: one outbox row with a transaction's events, deleted when all of them are published.
///
/// No event may be published before an earlier one of its verification. So an event behind an unpublished one becomes
/// an outbox row of its own, like a dead letter. A pack that cannot be published soon is replaced by rows.
package struct Pack {
    package let id = Int64.random(in: .min ... .max)

    /// The verifications that have earlier, unpublished events.
    var unpublished: Set<VerificationID>

    package init(behind unpublished: Set<VerificationID>) {
        self.unpublished = unpublished
    }

    /// The pack of a verification's next event; nil when the event becomes a row.
    func id(for verification: VerificationID) -> Int64? { unpublished.contains(verification) ? nil : id }

    /// Splits records between the pack, which takes only the first one of a stream, and rows.
    package func split(_ records: [OutboxRecord]) -> SplitOutbox {
        var streams = Set<UUIDValue>(minimumCapacity: records.count)
        var (packed, rows) = ([OutboxRecord](), [OutboxRecord]())
        for record in records {
            if !record.isDeadLetter, id(for: VerificationID(record.stream)) != nil,
                streams.insert(record.stream).inserted
            {
                packed.append(record)
            } else {
                rows.append(record)
            }
        }
        return SplitOutbox(pack: id, records: records, packed: packed, rows: rows)
    }
}

/// The records of a transaction, split between the pack and rows.
package struct SplitOutbox {
    package let pack: Int64

    /// All records, in order.
    let records: [OutboxRecord]
    package let packed: [OutboxRecord]
    package let rows: [OutboxRecord]
}

extension PostgresLedger {
    /// Finds the given verifications that have unpublished events.
    ///
    /// An earlier statement locks their rows, so no other transaction adds events meanwhile.
    package static func unpublished(_ ids: some Sequence<VerificationID>) -> Statement {
        Statement(
            """
            SELECT v.id FROM courier.verification v
            WHERE v.id = ANY ($1) AND v.id BETWEEN $2 AND $3 AND (
                EXISTS (SELECT FROM courier.outbox_pack p WHERE p.id = v.pack)
                OR EXISTS (SELECT FROM courier.outbox o WHERE o.stream = v.id)
            )
            """,
            bounded(ids.map(\.uuid.value))
        )
    }

    func insertPack(_ id: Int64, _ records: [OutboxRecord]) -> Statement {
        Statement(
            """
            INSERT INTO courier.outbox_pack (id, lease_until, size, records)
            VALUES ($1, clock_timestamp() + $2 * interval '1 microsecond', cardinality($3::uuid[]), ARRAY(
                SELECT ROW(
                    unnest($3::uuid[]), unnest($4::int4[]), unnest($5::bytea[]), unnest($6::bytea[]),
                    unnest($7::bytea[])
                )::courier.packed_record
            ))
            """,
            [
                .int64(id), leaseParameter, .uuids(records.map(\.stream.value)),
                .int32s(records.map(\.sequence)), .bytesArray(records.map(\.key)), .bytesArray(records.map(\.value)),
                .bytesArray(records.map { RecordField.encode($0.headers) }),
            ]
        )
    }

    /// Deletes the given packs that no other transaction locks, and returns their ids.
    static func deletePacks(_ ids: [Int64]) -> Statement {
        Statement(
            """
            DELETE FROM courier.outbox_pack p
            WHERE p.id = ANY (ARRAY(
                SELECT d.id FROM courier.outbox_pack d WHERE d.id = ANY ($1) FOR UPDATE SKIP LOCKED
            ))
            RETURNING p.id
            """,
            [.int64s(ids)]
        )
    }

    static func existingPacks(_ ids: [Int64]) -> Statement {
        Statement("SELECT p.id FROM courier.outbox_pack p WHERE p.id = ANY ($1)", [.int64s(ids)])
    }

    /// Replaces unlocked packs by rows of their given records, under the packs' leases, and returns the packs' ids.
    static func unpack(_ packs: [Int64: [OutboxKey]]) -> Statement {
        let records = packs.values.flatMap(\.self)
        return Statement(
            """
            WITH gone AS (
                DELETE FROM courier.outbox_pack p
                WHERE p.id = ANY (ARRAY(
                    SELECT d.id FROM courier.outbox_pack d WHERE d.id = ANY ($1) FOR UPDATE SKIP LOCKED
                ))
                RETURNING p.id, p.lease_until, p.records
            ), written AS (
                INSERT INTO courier.outbox (stream, sequence, dead_letter, key, value, headers, lease_until)
                SELECT r.stream, r.sequence, false, r.key, r.value, r.headers, g.lease_until
                FROM gone g, unnest(g.records) AS r
                -- As a condition on a value this is looked up in a hash table, and not made a join.
                WHERE ((r.stream, r.sequence) IN (SELECT unnest($2::uuid[]), unnest($3::int4[]))) IS TRUE
                ON CONFLICT (stream, sequence) DO NOTHING
            )
            SELECT g.id FROM gone g
            """,
            [.int64s(Array(packs.keys)), .uuids(records.map(\.stream.value)), .int32s(records.map(\.sequence))]
        )
    }

    /// Replaces packs with an expired lease by rows that are due, the longest waiting first.
    static func unpackDue(since start: Timestamp?) -> Statement {
        Statement(
            """
            WITH gone AS (
                DELETE FROM courier.outbox_pack p
                WHERE p.id = ANY (ARRAY(
                    SELECT d.id FROM courier.outbox_pack d
                    WHERE d.lease_until < statement_timestamp()
                      AND d.lease_until >= coalesce($1::timestamptz, '-infinity')
                    ORDER BY d.lease_until
                    LIMIT 2
                    FOR UPDATE SKIP LOCKED
                ))
                RETURNING p.records
            )
            INSERT INTO courier.outbox (stream, sequence, dead_letter, key, value, headers, lease_until)
            SELECT r.stream, r.sequence, false, r.key, r.value, r.headers, clock_timestamp() - interval '1 microsecond'
            FROM gone g, unnest(g.records) AS r
            ON CONFLICT (stream, sequence) DO NOTHING
            """,
            [.timestamp(microsecondsSinceUnixEpoch: start?.microseconds)]
        )
    }
}

extension UUIDValue {
    package static var random: UUIDValue { UUIDValue(.random(in: .min ... .max)) }
}
