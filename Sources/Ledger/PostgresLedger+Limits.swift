// SPDX-License-Identifier: Apache-2.0

package import PostgresClient
package import Verification

extension PostgresLedger {
    /// Locks the windows that there are, one after the other.
    ///
    /// As a join with the batch this is planned to begin at the table where that was empty when it was last analysed, and
    /// then compares every window with every one of the batch. The index gives the keys in their order.
    package static func lockWindows(_ windows: [LimitKey]) -> Statement {
        Statement(
            """
            SELECT w.scope, w.tenant, w.fingerprint, w.entries
            FROM courier.limit_window w
            WHERE w.fingerprint = ANY ($3)
              AND ((w.scope, w.tenant, w.fingerprint)
                  IN (SELECT unnest($1::text[]), unnest($2::text[]), unnest($3::bytea[]))) IS TRUE
            FOR UPDATE
            """,
            windowParameters(windows)
        )
    }

    /// Locks those of the windows that there are and that nobody holds.
    static func lockFreeWindows(_ windows: [LimitKey]) -> Statement {
        Statement(
            """
            SELECT w.scope, w.tenant, w.fingerprint, w.entries
            FROM courier.limit_window w
            WHERE w.fingerprint = ANY ($3)
              AND ((w.scope, w.tenant, w.fingerprint)
                  IN (SELECT unnest($1::text[]), unnest($2::text[]), unnest($3::bytea[]))) IS TRUE
            FOR UPDATE SKIP LOCKED
            """,
            windowParameters(windows)
        )
    }

    static func existingWindows(_ windows: [LimitKey]) -> Statement {
        Statement(
            """
            SELECT w.scope, w.tenant, w.fingerprint
            FROM courier.limit_window w
            WHERE w.fingerprint = ANY ($3)
              AND ((w.scope, w.tenant, w.fingerprint)
                  IN (SELECT unnest($1::text[]), unnest($2::text[]), unnest($3::bytea[]))) IS TRUE
            """,
            windowParameters(windows)
        )
    }

    /// Makes windows, one after the other; one that another worker has made meanwhile is left to it.
    static func makeWindows(_ windows: [LimitKey]) -> Statement {
        Statement(
            """
            INSERT INTO courier.limit_window (scope, tenant, fingerprint, entries, expires_at)
            SELECT u.scope, u.tenant, u.fingerprint, ''::bytea, clock_timestamp()
            FROM (
                SELECT unnest($1::text[]) AS scope, unnest($2::text[]) AS tenant, unnest($3::bytea[]) AS fingerprint
            ) AS u
            ON CONFLICT (scope, tenant, fingerprint) DO NOTHING
            """,
            windowParameters(windows)
        )
    }

    private static func windowParameters(_ windows: [LimitKey]) -> [Parameter] {
        [
            .texts(windows.map(\.scope.rawValue)), .texts(windows.map(\.tenant)),
            .bytesArray(windows.map(\.fingerprint)),
        ]
    }

    /// The windows that were locked.
    static func windows(_ rows: Rows) throws -> [LimitKey: LimitWindow] {
        var windows = [LimitKey: LimitWindow](minimumCapacity: rows.count)
        for row in rows { windows[try LimitKey(row)] = LimitWindow(encoded: try row.bytes(3)) }
        return windows
    }

    /// Writes first admissions; a window that another worker has begun meanwhile is a unique violation.
    package static func insertWindows(_ windows: [LimitKey: WindowChange]) -> Statement {
        Statement(
            """
            INSERT INTO courier.limit_window (scope, tenant, fingerprint, entries, expires_at)
            SELECT
                unnest($1::text[]), unnest($2::text[]), unnest($3::bytea[]), unnest($4::bytea[]),
                unnest($5::timestamptz[])
            """,
            windowParameters(windows)
        )
    }

    package static func updateWindows(_ windows: [LimitKey: WindowChange]) -> Statement {
        Statement(
            """
            UPDATE courier.limit_window w
            SET entries = u.entries, expires_at = u.expires_at
            FROM (
                SELECT
                    unnest($1::text[]) AS scope, unnest($2::text[]) AS tenant, unnest($3::bytea[]) AS fingerprint,
                    unnest($4::bytea[]) AS entries, unnest($5::timestamptz[]) AS expires_at
            ) AS u
            WHERE w.scope = u.scope AND w.tenant = u.tenant AND w.fingerprint = u.fingerprint
            """,
            windowParameters(windows)
        )
    }

    private static func windowParameters(_ windows: [LimitKey: WindowChange]) -> [Parameter] {
        let rows = Array(windows).sortedByKey { $0.key }
        return [
            .texts(rows.map(\.key.scope.rawValue)), .texts(rows.map(\.key.tenant)),
            .bytesArray(rows.map(\.key.fingerprint)), .bytesArray(rows.map(\.value.window.encoded)),
            .timestamps(rows.map(\.value.expiry.microseconds)),
        ]
    }

    /// The time, and what the tenants were let through as of that time; one row at least.
    package static func readTime(_ keys: IntakeKeys) -> Statement {
        Statement(
            """
            WITH moment AS MATERIALIZED (SELECT clock_timestamp() AS now)
            SELECT moment.now, l.tenant, l.count, l.ms,
                courier.tenant_usage(l.tenant, moment.now - l.ms * interval '1 millisecond')
            FROM moment
            LEFT JOIN unnest($1::text[], $2::int4[], $3::int8[]) AS l(tenant, count, ms) ON true
            """,
            limitParameters(keys.tenantLimits)
        )
    }

    static func lockTenants(_ keys: IntakeKeys) -> Statement {
        Statement("SELECT courier.lock_tenants($1::text[])", [.texts(keys.limitedTenants)])
    }

    /// Counts the batch's admissions for tenants that have a limit; nil when there are none.
    package static func admitTenants(_ admissions: [String: Int], _ keys: IntakeKeys, at now: Timestamp) -> Statement? {
        // Nobody else's: a limit that was lowered may be broken already, by what was let through before.
        let limits = keys.tenantLimits.filter { admissions[$0.tenant] != nil }
        let tenants = keys.limitedTenants.filter { admissions[$0] != nil }
        guard !tenants.isEmpty else { return nil }
        return Statement(
            "SELECT courier.admit_tenants($4::text[], $5::int4[], $6, $1::text[], $2::int4[], $3::int8[])",
            limitParameters(limits) + [
                .texts(tenants), .int32s(tenants.map { Int32(clamping: admissions[$0] ?? 0) }),
                .timestamp(microsecondsSinceUnixEpoch: now.microseconds),
            ]
        )
    }

    private static func limitParameters(_ limits: [TenantLimit]) -> [Parameter] {
        [
            .texts(limits.map(\.tenant)), .int32s(limits.map { Int32(clamping: $0.limit.count) }),
            .int64s(limits.map { $0.limit.per.microseconds / 1000 }),
        ]
    }
}

extension LimitKey {
    /// The key that a row begins with.
    init(_ row: Row) throws {
        guard let scope = Scope(rawValue: try row.text(0)) else { throw PostgresError(.unexpectedResult) }
        self.init(scope: scope, tenant: try row.text(1), fingerprint: try row.bytes(2))
    }
}
