// SPDX-License-Identifier: Apache-2.0

package import PostgresClient
package import Verification

extension PostgresLedger {
    /// A new slot points to the candidate's own verification; an existing one is locked and tells its own.
    package static func lockSlots(_ keys: IntakeKeys) -> Statement {
        Statement(
            """
            INSERT INTO courier.slot (tenant, purpose, fingerprint, verification_id)
            SELECT unnest($1::text[]), unnest($2::text[]), unnest($3::bytea[]), unnest($4::uuid[])
            ON CONFLICT (tenant, purpose, fingerprint) DO UPDATE SET verification_id = slot.verification_id
            RETURNING tenant, purpose, fingerprint, verification_id
            """,
            [
                .texts(keys.slots.map(\.key.tenant)),
                .texts(keys.slots.map(\.key.purpose.rawValue)),
                .bytesArray(keys.slots.map(\.key.fingerprint)),
                .uuids(keys.slots.map(\.fresh.uuid.value)),
            ]
        )
    }

    /// Locks those of the slots that there are and that nobody holds.
    static func lockFreeSlots(_ keys: IntakeKeys) -> Statement {
        Statement(
            """
            SELECT u.place, s.verification_id
            FROM (
                SELECT unnest($1::text[]) AS tenant, unnest($2::text[]) AS purpose, unnest($3::bytea[]) AS fingerprint,
                    unnest($4::int4[]) AS place
            ) AS u
            JOIN courier.slot s
                ON s.tenant = u.tenant AND s.purpose = u.purpose AND s.fingerprint = u.fingerprint
            FOR UPDATE OF s SKIP LOCKED
            """,
            slotPlaces(keys)
        )
    }

    static func existingSlots(_ keys: IntakeKeys) -> Statement {
        Statement(
            """
            SELECT u.place
            FROM (
                SELECT unnest($1::text[]) AS tenant, unnest($2::text[]) AS purpose, unnest($3::bytea[]) AS fingerprint,
                    unnest($4::int4[]) AS place
            ) AS u
            JOIN courier.slot s
                ON s.tenant = u.tenant AND s.purpose = u.purpose AND s.fingerprint = u.fingerprint
            """,
            slotPlaces(keys)
        )
    }

    private static func slotPlaces(_ keys: IntakeKeys) -> [Parameter] {
        [
            .texts(keys.slots.map(\.key.tenant)), .texts(keys.slots.map(\.key.purpose.rawValue)),
            .bytesArray(keys.slots.map(\.key.fingerprint)), .int32s(keys.slots.indices.map(Int32.init)),
        ]
    }

    package static func updateSlots(_ slots: [SlotKey: VerificationID]) -> Statement {
        let rows = Array(slots).sortedByKey { $0.key }
        return Statement(
            """
            UPDATE courier.slot s
            SET verification_id = u.verification_id
            FROM (
                SELECT
                    unnest($1::text[]) AS tenant, unnest($2::text[]) AS purpose, unnest($3::bytea[]) AS fingerprint,
                    unnest($4::uuid[]) AS verification_id
            ) AS u
            WHERE s.tenant = u.tenant AND s.purpose = u.purpose AND s.fingerprint = u.fingerprint
            """,
            [
                .texts(rows.map(\.key.tenant)),
                .texts(rows.map(\.key.purpose.rawValue)),
                .bytesArray(rows.map(\.key.fingerprint)),
                .uuids(rows.map(\.value.uuid.value)),
            ]
        )
    }

    /// What `lockSlots` tells; of a slot that is new, nothing is read that its candidate tells.
    static func slots(_ rows: Rows, _ keys: IntakeKeys) throws -> [SlotKey: VerificationID] {
        var slots = [SlotKey: VerificationID](minimumCapacity: rows.count)
        for row in rows {
            let id = VerificationID(UUIDValue(try row.uuid(3)))
            if let passed = keys.candidates[id]?.possiblyPassed, passed.count == 1 {
                slots[passed[0].slot] = id
                continue
            }
            let purpose = try Purpose(stored: row.text(1))
            slots[SlotKey(tenant: try row.text(0), purpose: purpose, fingerprint: try row.bytes(2))] = id
        }
        return slots
    }
}
