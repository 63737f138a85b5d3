// SPDX-License-Identifier: Apache-2.0

package import Formats
package import PostgresClient
import Synchronization
package import Verification

extension PostgresLedger {
    /// Locks and reads the existing windows, in key order because the index returns them so.
    package static func lockWindows(_ keys: [LimitKey]) -> Statement {
        Statement(
            "SELECT w.key, w.entries FROM courier.limit_window w WHERE w.key = ANY ($1) FOR UPDATE",
            [keys.parameter]
        )
    }

    /// Decodes locked windows, which are all among `keys`: a row does not have its scope.
    static func windows(_ rows: Rows, of keys: [LimitKey]) throws -> [LimitKey: LimitWindow] {
        var windows = [LimitKey: LimitWindow](minimumCapacity: rows.count)
        if rows.isEmpty { return windows }
        let known = Dictionary(keys.lazy.map { ($0.digest, $0) }) { first, _ in first }
        for row in rows {
            guard let key = known[UUIDValue(try row.uuid(0))] else { continue }
            windows[key] = LimitWindow(encoded: try row.bytes(1))
        }
        return windows
    }

    /// Inserts windows with first admissions; one that another worker has begun meanwhile is a unique violation.
    package static func insertWindows(_ windows: [LimitKey: WindowChange]) -> Statement {
        Statement(
            """
            INSERT INTO courier.limit_window (key, entries, expires_at)
            SELECT unnest($1::uuid[]), unnest($2::bytea[]), unnest($3::timestamptz[])
            """,
            parameters(windows)
        )
    }

    /// Updates locked windows.
    ///
    /// An upsert always finds its rows by key; the plan of a join with the batch could start with a scan of the table.
    package static func updateWindows(_ windows: [LimitKey: WindowChange]) -> Statement {
        Statement(
            """
            INSERT INTO courier.limit_window (key, entries, expires_at)
            SELECT unnest($1::uuid[]), unnest($2::bytea[]), unnest($3::timestamptz[])
            ON CONFLICT (key) DO UPDATE SET entries = excluded.entries, expires_at = excluded.expires_at
            """,
            parameters(windows)
        )
    }

    private static func parameters(_ windows: [LimitKey: WindowChange]) -> [Parameter] {
        let rows = windows.sorted { $0.key < $1.key }
        return [
            rows.map(\.key).parameter, .bytesArray(rows.map(\.value.window.encoded)),
            .timestamps(rows.map(\.value.expiry.microseconds)),
        ]
    }

    /// Reads the time, and the tenants' admissions at that time; returns at least one row.
    package static func readTime(_ keys: IntakeKeys) -> Statement {
        Statement(
            """
            WITH moment AS MATERIALIZED (SELECT clock_timestamp() AS now)
            SELECT moment.now, l.tenant, l.count, l.ms, u.count
            FROM moment
            LEFT JOIN unnest($1::text[], $2::int4[], $3::int8[]) AS l(tenant, count, ms) ON true
            LEFT JOIN courier.tenant_usage(l.tenant, moment.now - l.ms * interval '1 millisecond') AS u ON true
            """,
            limitParameters(keys.tenantLimits)
        )
    }

    static func lockTenants(_ keys: IntakeKeys) -> Statement {
        Statement("SELECT courier.lock_tenants($1::text[])", [.texts(keys.limitedTenants)])
    }

    /// Counts the batch's admissions of tenants that have a limit; nil when there are none.
    package static func admitTenants(_ admissions: [String: Int], _ keys: IntakeKeys, at now: Timestamp) -> Statement? {
        // Only these tenants: another tenant's limit may have been lowered, and be exceeded by earlier admissions.
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

/// Windows that have reached a limit, of all scopes but recipients, remembered so that no batch waits for their locked rows.
///
/// A full window gets no more admissions, so the values that were read stay valid while it is full. If a remembered
/// window would let a request of a batch pass, the batch is decided again with the row locked. A worker reads the row
/// again after a few seconds.
final class FullWindows: Sendable {
    static let memory = Duration.seconds(10)
    private static let most = 10_000

    private struct Window {
        let window: LimitWindow
        let readAt: ContinuousClock.Instant
    }

    private let windows = Mutex<[LimitKey: Window]>([:])

    /// The windows among the keys that were full a moment ago.
    func among(_ keys: [LimitKey], at now: ContinuousClock.Instant = .now) -> [LimitKey: LimitWindow] {
        windows.withLock { windows in
            guard !windows.isEmpty else { return [:] }
            return keys.reduce(into: [:]) { known, key in
                guard let full = windows[key], full.readAt.duration(to: now) < Self.memory else { return }
                known[key] = full.window
            }
        }
    }

    /// Remembers windows that were full when they were read just now.
    func note(_ full: [LimitKey: LimitWindow], at now: ContinuousClock.Instant = .now) {
        guard !full.isEmpty else { return }
        windows.withLock { windows in
            windows = windows.filter { $0.value.readAt.duration(to: now) < Self.memory }
            for (key, window) in full where windows.count < Self.most {
                windows[key] = Window(window: window, readAt: now)
            }
        }
    }

    /// Forgets windows, so that their rows are read again.
    func forget(_ keys: some Sequence<LimitKey>) {
        windows.withLock { windows in
            for key in keys { windows[key] = nil }
        }
    }
}
