// SPDX-License-Identifier: Apache-2.0

import PostgresClient
package import Verification

extension PostgresLedger {
    /// How long sends are left to their holders when the database was away: longer than a holder's last attempt to reach it
    /// may take, 5 s, and the 2 s until its next one.
    private static let outageGrace = Duration.seconds(8)

    package func sweepSends(capacity: Int) async throws -> Recorded<[ClaimedSend]> {
        try await pool.withTransaction { transaction in
            // Behind an outage, claims that ran out meanwhile are first recorded by those who know what became of them. Asked
            // here, since this transaction's connection may just have been found dead and replaced.
            if pool.sawOutage(within: Self.outageGrace) { return Recorded([], outbox: []) }
            let start = dueSends.next()
            let looks = try transaction.run([
                capacity > 0 ? lockDue(since: start) : lockDueDispatching(since: start),
                Statement("SELECT clock_timestamp()"),
            ])
            let found = try Self.dueSends(looks[0])
            let left =
                try looks[0].first { _ in true }.map { SweepStart.Left.some(since: try Timestamp($0, 15)) } ?? .nothing
            let isAll = found.count < settings.sweepSize
            // Behind a lock, too: a worker that waited for it writes what it knows first.
            let isContended = pool.sawContention(within: Self.outageGrace)
            let timely = isContended ? found.filter { $0.state != .dispatching } : found
            if timely.isEmpty {
                dueSends.note(capacity > 0 ? left : .unknown, at: try looks[1].clock())
                return Recorded([], outbox: [])
            }
            let ids = Set(timely.map(\.reference.verificationID))
            let answers = try transaction.run([
                Self.lockFreeVerifications(ids), Self.existingVerifications(ids), Statement("SELECT clock_timestamp()"),
            ])
            // What another transaction holds is left to a later sweep, and keeps no other send.
            let (verifications, busy) = try Self.freeVerifications(answers[0], answers[1])
            let due = timely.filter { !busy.contains($0.reference.verificationID) }
            let now = try answers[2].clock()
            let swept = SweepDecision.decide(
                due,
                verifications,
                now: now,
                capacity: capacity,
                repeatsUnknown: settings.repeatsUnknown,
                keys: keys.current
            )
            let changes = OutcomeDecision.settle(
                swept.results,
                verifications: verifications,
                now: now,
                source: settings.source
            )
            var statements: [Statement] = []
            if !swept.results.isEmpty { statements.append(settleSends(swept.results)) }
            if !swept.claims.isEmpty { statements.append(claim(swept.claims)) }
            let outbox = try write(changes, .newPack, transaction, after: statements)
            let takesAll = isAll && swept.claims.count + swept.results.count == found.count
            dueSends.note(capacity == 0 ? .unknown : takesAll ? .nothing : left, at: now)
            for mismatch in swept.mismatches { onMismatch(mismatch) }
            return Recorded(swept.claims, outbox: outbox)
        }
    }

    package func sweepExpired() async throws -> Recorded<Void> {
        let statement = lockExpired(since: expiries.next())
        return try await pool.withTransaction { transaction in
            let answers = try transaction.run([statement, Statement("SELECT clock_timestamp()")])
            let oldest = try answers[0].first { _ in true }.map { try Timestamp($0, 24) }
            let verifications = try Self.verifications(answers[0]).values.sorted { $0.id < $1.id }
            let now = try answers[1].clock()
            let changes = SweepDecision.expire(verifications, now: now, source: settings.source)
            let outbox = try write(changes, .newPack, transaction)
            let isAll = verifications.count < settings.sweepSize
            expiries.note(isAll ? .nothing : oldest.map { .some(since: $0) } ?? .unknown, at: now)
            return Recorded((), outbox: outbox)
        }
    }

    func lockExpired(since start: Timestamp?) -> Statement {
        Statement(
            """
            SELECT v.id, v.tenant, v.purpose, v.channel, v.subject, v.fingerprint, v.region, v.masked, v.sealed,
                v.seal_key, v.code_key, v.hash_key, v.generation, v.code_hash, v.code_length, v.state, v.status,
                v.checks_used, v.max_checks, v.sends_used, v.max_sends, v.send_open, v.sequence, v.resend_after,
                v.expires_at, v.policy_version, v.request_id, v.fictional, v.short_hash, v.short_until,
                v.used_providers
            FROM courier.verification v
            WHERE v.ended_at IS NULL AND NOT v.send_open AND v.expires_at <= statement_timestamp()
              AND v.expires_at >= coalesce($2::timestamptz, '-infinity')
            ORDER BY v.expires_at
            LIMIT $1
            FOR UPDATE SKIP LOCKED
            """,
            [.int32(settings.sweepSize), .timestamp(microsecondsSinceUnixEpoch: start?.microseconds)]
        )
    }

    private static func dueSends(_ rows: Rows) throws -> [DueSend] {
        var due: [DueSend] = []
        for row in rows { due.append(try DueSend(row)) }
        return due.sorted { $0.reference.id < $1.reference.id }
    }

    func lockDue(since start: Timestamp?) -> Statement {
        Statement(
            """
            SELECT s.id, s.verification_id, s.fence, s.number, s.request_id, s.resend_window_ms, s.validity_ms,
                s.traceparent, s.generation, s.state, s.deadline, s.attempts, s.repeated, s.rendering,
                s.tried_providers, s.lease_until, s.refused_by
            FROM courier.send s
            WHERE s.lease_until < statement_timestamp() AND s.lease_until >= coalesce($2::timestamptz, '-infinity')
            ORDER BY s.lease_until
            LIMIT $1
            FOR UPDATE SKIP LOCKED
            """,
            [.int32(settings.sweepSize), .timestamp(microsecondsSinceUnixEpoch: start?.microseconds)]
        )
    }

    /// For a worker that may claim nothing: sends whose worker died as it called a provider, which are only settled.
    ///
    /// It looks for them among four times as many that are due, however many more there are.
    func lockDueDispatching(since start: Timestamp?) -> Statement {
        Statement(
            """
            WITH due AS MATERIALIZED (
                SELECT d.id, d.state
                FROM courier.send d
                WHERE d.lease_until < statement_timestamp() AND d.lease_until >= coalesce($2::timestamptz, '-infinity')
                ORDER BY d.lease_until
                LIMIT 4 * $1
            )
            SELECT s.id, s.verification_id, s.fence, s.number, s.request_id, s.resend_window_ms, s.validity_ms,
                s.traceparent, s.generation, s.state, s.deadline, s.attempts, s.repeated, s.rendering,
                s.tried_providers, s.lease_until, s.refused_by
            FROM (SELECT due.id FROM due WHERE due.state = 'dispatching' LIMIT $1) AS u
            JOIN courier.send s ON s.id = u.id
            -- In this form the time implies no index: each send is looked up by its id.
            WHERE coalesce(s.lease_until < statement_timestamp(), false) AND s.state = 'dispatching'
            FOR UPDATE OF s SKIP LOCKED
            """,
            [.int32(settings.sweepSize), .timestamp(microsecondsSinceUnixEpoch: start?.microseconds)]
        )
    }

    /// Takes sends over; the raised fence makes every write of the claim before change nothing.
    func claim(_ claims: [ClaimedSend]) -> Statement {
        Statement(
            """
            UPDATE courier.send s
            SET state = 'claimed', fence = u.fence, repeated = u.repeated,
                lease_until = clock_timestamp() + $3 * interval '1 microsecond'
            FROM (SELECT unnest($1::uuid[]) AS id, unnest($2::int4[]) AS fence, unnest($4::bool[]) AS repeated) AS u
            WHERE s.id = u.id
            """,
            [
                .uuids(claims.map(\.id.uuid.value)), .int32s(claims.map(\.reference.fence)), leaseParameter,
                .bools(claims.map(\.isRepeat)),
            ]
        )
    }
}

extension DueSend {
    fileprivate init(_ row: Row) throws {
        guard let state = State(rawValue: try row.text(9)) else { throw PostgresError(.unexpectedResult) }
        self.init(
            reference: try SendReference(row),
            generation: try row.int32(8),
            state: state,
            deadline: try Timestamp(row, 10),
            attempts: try row.int16(11),
            isRepeated: try row.bool(12),
            refusers: try Self.names(row.optionalText(16)) ?? [],
            triedProviders: try Self.names(row.optionalText(14)),
            rendering: Rendering(json: try row.text(13))
        )
    }

    private static func names(_ text: String?) -> [String]? { text?.split(separator: " ").map(String.init) }
}
