// SPDX-License-Identifier: Apache-2.0

import PostgresClient
package import Verification

/// First events of verifications are written in packs: one row a transaction, which is deleted when all of them are
/// published. What can't be published soon becomes rows of the outbox, in the place of the pack.
extension PostgresLedger {
    /// Events that nothing can be before or in place of: their transaction is the only one that writes their number.
    func insertPack(_ id: UUIDValue, _ records: [OutboxRecord]) -> Statement {
        Statement(
            """
            INSERT INTO courier.outbox_pack (id, lease_until, records, streams, keys, contents, headers)
            VALUES ($1, clock_timestamp() + $2 * interval '1 microsecond', cardinality($3::uuid[]), $3, $4, $5, $6)
            """,
            [
                .uuid(id.value), leaseParameter, .uuids(records.map(\.stream.value)),
                .bytesArray(records.map(\.key)), .bytesArray(records.map(\.value)),
                .bytesArray(records.map { RecordField.encode($0.headers) }),
            ]
        )
    }

    static func deletePacks(_ ids: [UUIDValue]) -> Statement {
        Statement(
            "DELETE FROM courier.outbox_pack p WHERE p.id = ANY ($1) RETURNING p.id",
            [.uuids(ids.map(\.value))]
        )
    }

    /// Writes what is left of packs as rows, under the packs' leases.
    static func unpack(_ ids: [UUIDValue], left streams: [UUIDValue]) -> Statement {
        Statement(
            """
            WITH gone AS (
                DELETE FROM courier.outbox_pack p WHERE p.id = ANY ($1)
                RETURNING p.lease_until, p.streams, p.keys, p.contents, p.headers
            )
            INSERT INTO courier.outbox (stream, sequence, dead_letter, key, value, headers, lease_until)
            SELECT r.stream, 1, false, r.key, r.content, r.headers, g.lease_until
            FROM gone g, unnest(g.streams, g.keys, g.contents, g.headers) AS r (stream, key, content, headers)
            WHERE r.stream = ANY ($2)
            """,
            [.uuids(ids.map(\.value)), .uuids(streams.map(\.value))]
        )
    }

    /// Writes the packs that nobody holds as rows that nobody holds, the longest waiting ones first.
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
                RETURNING p.streams, p.keys, p.contents, p.headers
            )
            INSERT INTO courier.outbox (stream, sequence, dead_letter, key, value, headers, lease_until)
            SELECT r.stream, 1, false, r.key, r.content, r.headers, clock_timestamp() - interval '1 microsecond'
            FROM gone g, unnest(g.streams, g.keys, g.contents, g.headers) AS r (stream, key, content, headers)
            """,
            [.timestamp(microsecondsSinceUnixEpoch: start?.microseconds)]
        )
    }
}

extension UUIDValue {
    /// The id of a pack or a parcel.
    package static var random: UUIDValue { UUIDValue(.random(in: .min ... .max)) }
}

extension OutboxRecord {
    /// Of a verification: a stream that is made from a record is no UUIDv7.
    var isFirstEvent: Bool { sequence == 1 && !isDeadLetter && stream.version7Time != nil }
}
