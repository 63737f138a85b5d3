// SPDX-License-Identifier: Apache-2.0

import Formats
package import PostgresClient
package import Verification

extension PostgresLedger {
    /// Locks and reads the rows of request ids that are known already.
    package static func lockRequests(_ keys: IntakeKeys) -> Statement { readRequests(keys.requests).forUpdate }

    /// Reads the rows of request ids that are known already, as last committed.
    ///
    /// Only rows of yesterday and today are read: an older request is too late to be sent, whatever its id.
    package static func readRequests(_ requests: [Candidate]) -> Statement {
        Statement(
            """
            SELECT r.key, r.digest, r.verification_id, r.status, r.reason, r.rule, r.places,
                r.record_topic, r.record_partition, r.record_offset, r.record_time
            FROM courier.request r
            WHERE r.key = ANY ($1)
              AND r.day BETWEEN (statement_timestamp() AT TIME ZONE 'UTC')::date - 1
                  AND (statement_timestamp() AT TIME ZONE 'UTC')::date
            """,
            [.uuids(requests.map(\.key.digest.value))]
        )
    }

    /// Inserts new request ids; one that another worker has inserted meanwhile is a unique violation.
    ///
    /// In the first minute of a day an id is also inserted into the day before, where a transaction that began before
    /// midnight may still be writing the same id: ids are unique within a partition only.
    package static func insertRequests(_ requests: [RequestKey: KnownRequest]) -> Statement {
        Statement(
            """
            INSERT INTO courier.request (
                day, key, digest, verification_id, status, reason, rule, places,
                record_topic, record_partition, record_offset, record_time
            )
            SELECT d.day, u.*
            FROM (
                SELECT
                    unnest($1::uuid[]), unnest($2::uuid[]), unnest($3::uuid[]), unnest($4::text[]),
                    unnest($5::text[]), unnest($6::text[]), unnest($7::text[]), unnest($8::int4[]),
                    unnest($9::int4[]), unnest($10::int8[]), unnest($11::int8[])
            ) AS u
            CROSS JOIN (
                SELECT DISTINCT (moment AT TIME ZONE 'UTC')::date
                FROM unnest(ARRAY[statement_timestamp() - interval '1 minute', statement_timestamp()]) AS moment
            ) AS d(day)
            """,
            parameters(requests)
        )
    }

    /// The stored requests of these candidates; an id with rows on both days has the same content in each.
    static func requests(_ rows: Rows, _ candidates: [Candidate]) throws -> [RequestKey: KnownRequest] {
        if rows.isEmpty { return [:] }
        let known = Dictionary(try rows.map { (try $0.uuid(0), try KnownRequest($0)) }) { first, _ in first }
        return Dictionary(
            uniqueKeysWithValues: candidates.compactMap { request in
                known[request.key.digest.value].map { (request.key, $0) }
            }
        )
    }

    /// Updates locked requests.
    ///
    /// A join with the batch could be planned as a scan of the table; `array_position` costs no more.
    package static func updateRequests(_ requests: [RequestKey: KnownRequest]) -> Statement {
        Statement(
            """
            UPDATE courier.request r
            SET (
                digest, verification_id, status, reason, rule, places,
                record_topic, record_partition, record_offset, record_time
            ) = (
                SELECT ($2::uuid[])[n], ($3::uuid[])[n], ($4::text[])[n], ($5::text[])[n], ($6::text[])[n],
                    ($7::text[])[n], ($8::int4[])[n], ($9::int4[])[n], ($10::int8[])[n], ($11::int8[])[n]
                FROM array_position($1::uuid[], r.key) AS n
            )
            WHERE r.key = ANY ($1)
              AND r.day BETWEEN (statement_timestamp() AT TIME ZONE 'UTC')::date - 1
                  AND (statement_timestamp() AT TIME ZONE 'UTC')::date
            """,
            parameters(requests)
        )
    }

    private static func parameters(_ requests: [RequestKey: KnownRequest]) -> [Parameter] {
        // Places are sorted in place of rows, whose copies cost more than the sort.
        let keys = requests.keys.map(\.digest.value)
        let known = Array(requests.values)
        let order = known.indices.sorted { keys[$0] < keys[$1] }
        return [
            .uuids(order.map { keys[$0] }),
            .uuids(order.map { known[$0].digest.value }),
            .uuids(order.map { known[$0].verificationID?.uuid.value }),
            .texts(order.map { known[$0].status?.rawValue }),
            .texts(order.map { known[$0].reason }),
            .texts(order.map { known[$0].rule }),
            .texts(order.map { known[$0].places }),
            .int32s(order.map { known[$0].place.topic }),
            .int32s(order.map { known[$0].place.partition }),
            .int64s(order.map { known[$0].place.offset }),
            .int64s(order.map { known[$0].place.time }),
        ]
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
