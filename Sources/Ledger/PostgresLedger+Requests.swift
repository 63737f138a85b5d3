// SPDX-License-Identifier: Apache-2.0

package import PostgresClient
package import Verification

extension PostgresLedger {
    /// Locks and reads the rows of request ids that came before, and writes one for each of the others.
    ///
    /// Rows of yesterday and today are looked up: what is older is too old to be sent, whatever its id. A new id is written
    /// before its decision, so that another worker with the same id waits for it, and then fails by a unique violation and
    /// decides its batch again.
    ///
    /// In the first minute of a day an id is also written to the day before, where a transaction that began before
    /// midnight may still be writing the same id: ids are unique within a partition only. Then each day has a row, and the
    /// day before tells what the id holds.
    package static func insertRequests(_ keys: IntakeKeys) -> Statement {
        Statement(
            """
            WITH known AS (
                SELECT r.* FROM courier.request r
                WHERE r.key = ANY ($1)
                  AND r.day BETWEEN (statement_timestamp() AT TIME ZONE 'UTC')::date - 1
                      AND (statement_timestamp() AT TIME ZONE 'UTC')::date
                FOR UPDATE
            ), begun AS (
                INSERT INTO courier.request (
                    day, key, digest, verification_id, record_topic, record_partition, record_offset, record_time
                )
                SELECT d.day, u.*
                FROM (
                    SELECT
                        unnest($1::uuid[]) AS key, unnest($2::uuid[]), unnest($3::uuid[]), unnest($4::int4[]),
                        unnest($5::int4[]), unnest($6::int8[]), unnest($7::int8[])
                ) AS u
                CROSS JOIN (
                    SELECT DISTINCT (moment AT TIME ZONE 'UTC')::date
                    FROM unnest(ARRAY[statement_timestamp() - interval '1 minute', statement_timestamp()]) AS moment
                ) AS d(day)
                WHERE u.key NOT IN (SELECT k.key FROM known k)
            )
            SELECT k.key, k.digest, k.verification_id, k.status, k.reason, k.rule, k.places,
                k.record_topic, k.record_partition, k.record_offset, k.record_time
            FROM known k
            ORDER BY k.day
            """,
            [
                .uuids(keys.requests.map(\.key.digest.value)),
                .uuids(keys.requests.map(\.digest.value)),
                .uuids(keys.requests.map(\.verificationID.uuid.value)),
                .int32s(keys.requests.map(\.place.topic)),
                .int32s(keys.requests.map(\.place.partition)),
                .int64s(keys.requests.map(\.place.offset)),
                .int64s(keys.requests.map(\.place.time)),
            ]
        )
    }

    /// What `insertRequests` tells: a row for each key, its own new one or one from before.
    static func requests(_ rows: Rows, _ keys: IntakeKeys) throws -> [RequestKey: KnownRequest] {
        let known = Dictionary(try rows.map { (try $0.uuid(0), try KnownRequest($0)) }) { first, _ in first }
        return Dictionary(
            uniqueKeysWithValues: keys.requests.map { ($0.key, known[$0.key.digest.value] ?? KnownRequest(of: $0)) }
        )
    }

    /// Locks those of the requests that there are and that nobody holds.
    static func lockFreeRequests(_ keys: IntakeKeys) -> Statement {
        Statement(
            """
            SELECT r.key, r.verification_id FROM courier.request r
            WHERE r.key = ANY ($1)
              AND r.day BETWEEN (statement_timestamp() AT TIME ZONE 'UTC')::date - 1
                  AND (statement_timestamp() AT TIME ZONE 'UTC')::date
            FOR UPDATE SKIP LOCKED
            """,
            [.uuids(keys.requests.map(\.key.digest.value))]
        )
    }

    /// Writes what has become of locked requests.
    ///
    /// A join with the batch could be planned to begin at the table; the place of a row's key in the batch costs no more.
    package static func updateRequests(_ requests: [RequestKey: KnownRequest]) -> Statement {
        let rows = Array(requests)
        return Statement(
            """
            UPDATE courier.request r
            SET (
                verification_id, status, reason, rule, places,
                record_topic, record_partition, record_offset, record_time
            ) = (
                SELECT ($2::uuid[])[n], ($3::text[])[n], ($4::text[])[n], ($5::text[])[n], ($6::text[])[n],
                    ($7::int4[])[n], ($8::int4[])[n], ($9::int8[])[n], ($10::int8[])[n]
                FROM array_position($1::uuid[], r.key) AS n
            )
            WHERE r.key = ANY ($1)
              AND r.day BETWEEN (statement_timestamp() AT TIME ZONE 'UTC')::date - 1
                  AND (statement_timestamp() AT TIME ZONE 'UTC')::date
            """,
            [
                .uuids(rows.map(\.key.digest.value)),
                .uuids(rows.map(\.value.verificationID?.uuid.value)),
                .texts(rows.map(\.value.status?.rawValue)),
                .texts(rows.map(\.value.reason)),
                .texts(rows.map(\.value.rule)),
                .texts(rows.map(\.value.places)),
                .int32s(rows.map(\.value.place.topic)),
                .int32s(rows.map(\.value.place.partition)),
                .int64s(rows.map(\.value.place.offset)),
                .int64s(rows.map(\.value.place.time)),
            ]
        )
    }
}

extension KnownRequest {
    fileprivate init(_ row: Row) throws {
        self.init(
            place: RecordPlace(
                topic: try row.int32(7),
                partition: try row.int32(8),
                offset: try row.int64(9),
                time: try row.optionalInt64(10)
            ),
            places: try row.optionalText(6),
            digest: UUIDValue(try row.uuid(1)),
            verificationID: try row.optionalUUID(2).map { VerificationID(UUIDValue($0)) },
            status: try row.optionalText(3).flatMap(DeliveryStatus.init(rawValue:)),
            reason: try row.optionalText(4),
            rule: try row.optionalText(5)
        )
    }
}
