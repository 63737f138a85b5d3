// SPDX-License-Identifier: Apache-2.0

import Formats
package import PostgresClient
package import Verification

extension PostgresLedger {
    /// Locks and reads the existing persons, in key order because the index returns them so.
    package static func lockPersons(_ keys: [LimitKey]) -> Statement {
        Statement(
            """
            SELECT p.key, p.slots, p.entries, p.kept_until FROM courier.person p
            WHERE p.key = ANY ($1)
            FOR UPDATE
            """,
            [keys.parameter]
        )
    }

    /// Inserts new persons; one that another worker has inserted meanwhile is a unique violation.
    package static func insertPersons(_ persons: [LimitKey: Person]) -> Statement {
        Statement(
            """
            INSERT INTO courier.person (key, slots, entries, kept_until)
            SELECT unnest($1::uuid[]), unnest($2::bytea[]), unnest($3::bytea[]), unnest($4::timestamptz[])
            """,
            parameters(persons)
        )
    }

    /// Updates locked persons.
    ///
    /// An upsert always finds its rows by key; the plan of a join with the batch could start with a scan of the table.
    package static func updatePersons(_ persons: [LimitKey: Person]) -> Statement {
        Statement(
            """
            INSERT INTO courier.person (key, slots, entries, kept_until)
            SELECT unnest($1::uuid[]), unnest($2::bytea[]), unnest($3::bytea[]), unnest($4::timestamptz[])
            ON CONFLICT (key) DO UPDATE
            SET slots = excluded.slots, entries = excluded.entries, kept_until = excluded.kept_until
            """,
            parameters(persons)
        )
    }

    private static func parameters(_ persons: [LimitKey: Person]) -> [Parameter] {
        let rows = persons.sorted { $0.key < $1.key }
        return [
            rows.map(\.key).parameter, .bytesArray(rows.map(\.value.encodedSlots)),
            .bytesArray(rows.map(\.value.window.encoded)), .timestamps(rows.map(\.value.keptUntil.microseconds)),
        ]
    }

    static func persons(_ rows: Rows) throws -> [LimitKey: Person] {
        var persons = [LimitKey: Person](minimumCapacity: rows.count)
        for row in rows {
            persons[LimitKey(scope: .recipient, digest: UUIDValue(try row.uuid(0)))] = Person(
                encodedSlots: try row.bytes(1),
                window: LimitWindow(encoded: try row.bytes(2)),
                keptUntil: try Timestamp(row, 3)
            )
        }
        return persons
    }
}

extension [LimitKey] {
    var parameter: Parameter { .uuids(map(\.digest.value)) }
}
