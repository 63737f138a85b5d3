// SPDX-License-Identifier: Apache-2.0

package import Formats
package import PostgresClient
package import Verification

/// A parcel is a lease on sends: on those that a worker claimed together, or on one that is due at a later time.
///
/// It lists its sends with their fences. A send belongs to a parcel while it has that fence and no outcome. Every claim
/// and every delay raises the fence, so a send leaves its parcel without a write to the parcel.
extension PostgresLedger {
    package func insertParcel(_ id: UUIDValue, _ claims: [SendReference]) -> Statement {
        Statement(
            """
            INSERT INTO courier.parcel (id, lease_until, sends, fences)
            VALUES ($1, clock_timestamp() + $2 * interval '1 microsecond', $3, $4)
            """,
            [.uuid(id.value), leaseParameter, .uuids(claims.map(\.id.uuid.value)), .int32s(claims.map(\.fence))]
        )
    }

    /// The time after which a send that is set to pending is due again.
    struct Delay {
        let send: SendReference
        let after: Duration
    }

    /// The statements that end claims in their parcels after their sends are written.
    static func leaveParcels(_ plan: OpenParcels.Plan, _ delays: [Delay]) -> [Statement] {
        (delays.isEmpty ? [] : [insertDelays(delays)])
            + (plan.ended.isEmpty ? [] : [deleteParcels(Array(plan.ended.keys))])
    }

    /// Inserts a parcel for each send that the previous statement set to pending, due after a delay of its own.
    static func insertDelays(_ waiting: [Delay]) -> Statement {
        Statement(
            """
            INSERT INTO courier.parcel (id, lease_until, sends, fences)
            SELECT gen_random_uuid(), clock_timestamp() + u.after * interval '1 microsecond', ARRAY[s.id], ARRAY[s.fence]
            FROM (
                SELECT unnest($1::uuid[]) AS id, unnest($2::int4[]) AS fence, unnest($3::int8[]) AS after
            ) AS u
            JOIN courier.send s ON s.id = u.id AND s.fence = u.fence + 1
            WHERE s.state = 'pending'
            """,
            [
                .uuids(waiting.map(\.send.id.uuid.value)), .int32s(waiting.map(\.send.fence)),
                .int64s(waiting.map(\.after.microseconds)),
            ]
        )
    }

    package static func deleteParcels(_ ids: [UUIDValue]) -> Statement {
        Statement("DELETE FROM courier.parcel p WHERE p.id = ANY ($1)", [.uuids(ids.map(\.value))])
    }

    /// Deletes the given parcels to which no send belongs any more.
    static func deleteEmptyParcels(_ ids: [UUIDValue]) -> Statement {
        Statement(
            """
            DELETE FROM courier.parcel p
            WHERE p.id = ANY ($1) AND NOT EXISTS (
                SELECT FROM unnest(p.sends, p.fences) AS u (send, fence)
                JOIN courier.send s ON s.id = u.send AND s.fence = u.fence
                WHERE s.state IN ('pending', 'claimed', 'dispatching')
            )
            """,
            [.uuids(ids.map(\.value))]
        )
    }

    /// Extends the leases of parcels whose worker has results for their sends and waits to write them.
    func extendParcels(_ ids: [UUIDValue]) -> Statement {
        Statement(
            """
            UPDATE courier.parcel p SET lease_until = clock_timestamp() + $2 * interval '1 microsecond'
            WHERE p.id = ANY ($1)
            """,
            [.uuids(ids.map(\.value)), leaseParameter]
        )
    }

    /// Locks parcels with an expired lease, the longest waiting first, until they have the given number of sends.
    ///
    /// Reads their contents, and the number of due parcels. The other parcels are left to workers with free capacity.
    func lockDueParcels(since start: Timestamp?, holding sends: Int) -> Statement {
        Statement(
            """
            WITH waiting AS MATERIALIZED (
                SELECT p.id, p.lease_until, cardinality(p.sends) AS size
                FROM courier.parcel p
                WHERE p.lease_until < statement_timestamp() AND p.lease_until >= coalesce($2::timestamptz, '-infinity')
                ORDER BY p.lease_until
                LIMIT $1
            ), counted AS MATERIALIZED (
                SELECT count(*) AS parcels, count(*) FILTER (WHERE w.earlier < $3) AS taken
                FROM (
                    SELECT sum(size) OVER (ORDER BY lease_until, id) - size AS earlier FROM waiting
                ) AS w
            ), due AS MATERIALIZED (
                SELECT p.id, p.lease_until, p.sends, p.fences
                FROM courier.parcel p
                WHERE p.lease_until < statement_timestamp() AND p.lease_until >= coalesce($2::timestamptz, '-infinity')
                ORDER BY p.lease_until
                LIMIT (SELECT taken FROM counted)
                FOR UPDATE SKIP LOCKED
            )
            SELECT d.id, d.lease_until, (SELECT parcels FROM counted), unnest(d.sends), unnest(d.fences)
            FROM due d
            """,
            [
                .int32(settings.sweepSize), .timestamp(microsecondsSinceUnixEpoch: start?.microseconds),
                .int64(Int64(sends)),
            ]
        )
    }
}
