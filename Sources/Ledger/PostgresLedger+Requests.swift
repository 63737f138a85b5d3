// SPDX-License-Identifier: Apache-2.0

package import PostgresClient
package import Verification

extension PostgresLedger {
    /// A request id is written before its decision, so that another worker with the same id waits for it.
    ///
    /// One that is there is locked and tells what it holds. Those of the day before are left to `readRequests`.
    ///
    /// In the first minute of a day an id is also written to the day before, where a transaction that began before
    /// midnight may still be writing the same id: ids are unique within a partition only. Then each day has a row, and the
    /// day before tells what the id holds.
    package static func insertRequests(_ keys: IntakeKeys) -> Statement {
        Statement(
            """
            INSERT INTO courier.request (day, tenant, request_id, digest, places, verification_id)
            SELECT d.day, r.*
            FROM (
                SELECT DISTINCT (moment AT TIME ZONE 'UTC')::date
                FROM unnest(ARRAY[statement_timestamp() - interval '1 minute', statement_timestamp()]) AS moment
            ) AS d(day)
            CROSS JOIN (
                SELECT
                    unnest($1::text[]) AS tenant, unnest($2::text[]) AS request_id, unnest($3::bytea[]) AS digest,
                    unnest($4::text[]) AS places, unnest($5::uuid[]) AS verification_id
            ) AS r
            WHERE (r.tenant, r.request_id) NOT IN (
                SELECT o.tenant, o.request_id FROM courier.request o
                WHERE o.request_id = ANY ($2) AND o.day = (statement_timestamp() AT TIME ZONE 'UTC')::date - 1
            )
            ON CONFLICT (tenant, request_id, day) DO UPDATE SET places = request.places
            RETURNING tenant, request_id, digest, places, verification_id, status, reason, rule,
                day < (statement_timestamp() AT TIME ZONE 'UTC')::date
            """,
            [
                .texts(keys.requests.map(\.key.tenant)),
                .texts(keys.requests.map(\.key.requestID)),
                .bytesArray(keys.requests.map(\.digest)),
                .texts(keys.requests.map(\.place)),
                .uuids(keys.requests.map(\.verificationID.uuid.value)),
            ]
        )
    }

    /// Locks those of the requests that there are and that nobody holds.
    static func lockFreeRequests(_ keys: IntakeKeys) -> Statement {
        Statement(
            """
            SELECT u.place, r.verification_id
            FROM (
                SELECT unnest($1::text[]) AS tenant, unnest($2::text[]) AS request_id, unnest($3::int4[]) AS place
            ) AS u
            JOIN courier.request r ON r.tenant = u.tenant AND r.request_id = u.request_id
            WHERE r.day BETWEEN (statement_timestamp() AT TIME ZONE 'UTC')::date - 1
                AND (statement_timestamp() AT TIME ZONE 'UTC')::date
            FOR UPDATE OF r SKIP LOCKED
            """,
            requestPlaces(keys)
        )
    }

    static func existingRequests(_ keys: IntakeKeys) -> Statement {
        Statement(
            """
            SELECT u.place
            FROM (
                SELECT unnest($1::text[]) AS tenant, unnest($2::text[]) AS request_id, unnest($3::int4[]) AS place
            ) AS u
            JOIN courier.request r ON r.tenant = u.tenant AND r.request_id = u.request_id
            WHERE r.day BETWEEN (statement_timestamp() AT TIME ZONE 'UTC')::date - 1
                AND (statement_timestamp() AT TIME ZONE 'UTC')::date
            """,
            requestPlaces(keys)
        )
    }

    private static func requestPlaces(_ keys: IntakeKeys) -> [Parameter] {
        [
            .texts(keys.requests.map(\.key.tenant)), .texts(keys.requests.map(\.key.requestID)),
            .int32s(keys.requests.indices.map(Int32.init)),
        ]
    }

    /// Yesterday's rows and today's: what is older is too old to be sent, whatever its id.
    static func readRequests(_ keys: [RequestKey]) -> Statement {
        Statement(
            """
            SELECT DISTINCT ON (r.tenant, r.request_id)
                r.tenant, r.request_id, r.digest, r.places, r.verification_id, r.status, r.reason, r.rule
            FROM (SELECT unnest($1::text[]) AS tenant, unnest($2::text[]) AS request_id) AS k
            JOIN courier.request r ON r.tenant = k.tenant AND r.request_id = k.request_id
            WHERE r.day BETWEEN (statement_timestamp() AT TIME ZONE 'UTC')::date - 1
                AND (statement_timestamp() AT TIME ZONE 'UTC')::date
            ORDER BY r.tenant, r.request_id, r.day
            """,
            [.texts(keys.map(\.tenant)), .texts(keys.map(\.requestID))]
        )
    }

    package static func updateRequests(_ requests: [RequestKey: KnownRequest]) -> Statement {
        let rows = requests.sorted { $0.key < $1.key }
        return Statement(
            """
            UPDATE courier.request r
            SET places = u.places, verification_id = u.verification_id,
                status = u.status, reason = u.reason, rule = u.rule
            FROM (
                SELECT
                    unnest($1::text[]) AS tenant, unnest($2::text[]) AS request_id, unnest($3::text[]) AS places,
                    unnest($4::uuid[]) AS verification_id, unnest($5::text[]) AS status, unnest($6::text[]) AS reason,
                    unnest($7::text[]) AS rule
            ) AS u
            WHERE r.tenant = u.tenant AND r.request_id = u.request_id
              AND r.day BETWEEN (statement_timestamp() AT TIME ZONE 'UTC')::date - 1
                  AND (statement_timestamp() AT TIME ZONE 'UTC')::date
            """,
            [
                .texts(rows.map(\.key.tenant)),
                .texts(rows.map(\.key.requestID)),
                .texts(rows.map(\.value.placesText)),
                .uuids(rows.map(\.value.verificationID?.uuid.value)),
                .texts(rows.map(\.value.status?.rawValue)),
                .texts(rows.map(\.value.reason)),
                .texts(rows.map(\.value.rule)),
            ]
        )
    }

    /// What `insertRequests` tells; of a row that is a candidate's own, nothing is read that the candidate tells.
    static func insertedRequests(_ rows: Rows, _ keys: IntakeKeys) throws -> [RequestKey: KnownRequest] {
        var requests = [RequestKey: KnownRequest](minimumCapacity: rows.count)
        for row in rows {
            if let id = try row.optionalUUID(4), let own = keys.candidates[VerificationID(UUIDValue(id))] {
                if requests[own.key] == nil { requests[own.key] = KnownRequest(of: own) }
                continue
            }
            let key = try RequestKey(row)
            let isOfDayBefore = try row.bool(8)
            if isOfDayBefore || requests[key] == nil { requests[key] = try KnownRequest(row) }
        }
        return requests
    }

    /// What `readRequests` tells.
    static func requests(_ rows: Rows) throws -> [RequestKey: KnownRequest] {
        var requests = [RequestKey: KnownRequest](minimumCapacity: rows.count)
        for row in rows { requests[try RequestKey(row)] = try KnownRequest(row) }
        return requests
    }
}

extension RequestKey {
    fileprivate init(_ row: Row) throws {
        self.init(tenant: try row.text(0), requestID: try row.text(1))
    }
}

extension KnownRequest {
    fileprivate init(_ row: Row) throws {
        self.init(
            placesText: try row.text(3),
            digest: try row.bytes(2),
            verificationID: try row.optionalUUID(4).map { VerificationID(UUIDValue($0)) },
            status: try row.optionalText(5).flatMap(DeliveryStatus.init(rawValue:)),
            reason: try row.optionalText(6),
            rule: try row.optionalText(7)
        )
    }
}
