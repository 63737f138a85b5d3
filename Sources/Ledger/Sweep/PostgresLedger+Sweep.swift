// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
package import Verification

extension PostgresLedger {
    /// Time after an outage for which expired sends are left to their holders.
    ///
    /// Longer than a holder's last attempt to reach the database may take, 5 s, and the 2 s until its next one.
    private static let outageGrace = Duration.seconds(8)

    package func sweepSends(capacity: Int) async throws -> Recorded<[ClaimedSend]> {
        try await dueSends.during { try await sweepDueSends(capacity: capacity) }
    }

    private func sweepDueSends(capacity: Int) async throws -> Recorded<[ClaimedSend]> {
        try await pool.withTransaction { transaction in
            // After an outage, holders first record the results of claims that expired meanwhile. Checked here, since
            // this transaction's connection may just have been found broken and been replaced.
            if pool.sawOutage(within: Self.outageGrace) { return Recorded([], outbox: []) }
            let parcels = try dueParcels(capacity: capacity, transaction)
            if parcels.ids.isEmpty {
                dueSends.note(capacity > 0 ? .nothing : .unknown, at: parcels.time)
                return Recorded([], outbox: [])
            }
            let found = try openSends(in: parcels, transaction)
            // After a lock conflict, leave sends in `dispatching`, too: a worker that waited for the lock writes its
            // results first.
            let isContended = pool.sawContention(within: Self.outageGrace)
            let timely = found.filter {
                $0.state == .dispatching ? !isContended : capacity > 0
            }.prefix(Int(settings.sweepSize))
            let ids = Set(timely.map(\.reference.verificationID))
            let answers = try transaction.run(FreeVerifications.lock(ids) + [Self.unpublished(ids), .clock])
            let locked = try FreeVerifications(answers[0], answers[1])
            let pack = Pack(behind: try Self.verificationIDs(answers[2]))
            let now = try answers[3].clock()
            // Sends whose verification another transaction locks are left to a later sweep, and delay no other.
            let swept = SweepDecision.decide(
                timely.filter { !locked.busy.contains($0.reference.verificationID) },
                locked.free,
                now: now,
                capacity: capacity,
                repeatsUnknown: settings.repeatsUnknown,
                keys: keys.current
            )
            let outbox = try write(swept, parcels, locked.free, pack, at: now, transaction)
            let left = parcels.oldest.map { SweepStart.Left.some(since: $0) } ?? .nothing
            let takesAll = parcels.isAll && swept.claims.count + swept.results.count == found.count
            dueSends.note(capacity == 0 ? .unknown : takesAll ? .nothing : left, at: now)
            for mismatch in swept.mismatches { onMismatch(mismatch) }
            return Recorded(swept.claims, outbox: outbox)
        }
    }

    /// Settles and claims sends, and deletes the parcels that they leave empty.
    private func write(
        _ swept: SweepDecision.Swept,
        _ parcels: DueParcels,
        _ verifications: [VerificationID: StoredVerification],
        _ pack: Pack,
        at now: Timestamp,
        _ transaction: Transaction
    ) throws -> [OutboxRecord] {
        let changes = OutcomeDecision.settle(
            swept.results,
            verifications: verifications,
            now: now,
            source: settings.source
        )
        var statements: [Statement] = []
        if !swept.results.isEmpty { statements.append(Self.settleSends(swept.results)) }
        if !swept.claims.isEmpty { statements.append(Self.claim(swept.claims)) }
        statements.append(Self.deleteEmptyParcels(Array(parcels.ids)))
        return try write(changes, pack, transaction, after: statements, claiming: swept.claims.map(\.reference))
    }

    private struct DueParcels {
        var ids: Set<UUIDValue> = []

        /// The sends in the parcels, with the fences.
        var sends: [SendID: Int32] = [:]

        /// The due time of the first parcel.
        var oldest: Timestamp?

        /// True when no other parcels are due.
        var isAll = true
        let time: Timestamp
    }

    /// Locks due parcels until their sends fill the capacity.
    ///
    /// Without capacity a worker only settles sends whose worker died during a call to a provider. It searches four
    /// times as many sends for them.
    private func dueParcels(capacity: Int, _ transaction: Transaction) throws -> DueParcels {
        let most = capacity > 0 ? min(capacity, Int(settings.sweepSize)) : Int(settings.sweepSize) * 4
        let answers = try transaction.run([
            lockDueParcels(since: dueSends.next(), holding: most), .clock,
        ])
        var parcels = DueParcels(time: try answers[1].clock())
        var count: Int64 = 0
        for row in answers[0] {
            parcels.ids.insert(UUIDValue(try row.uuid(0)))
            parcels.oldest = try min(parcels.oldest ?? .init(row, 1), .init(row, 1))
            count = try row.int64(2)
            let (send, fence) = (SendID(UUIDValue(try row.uuid(3))), try row.int32(4))
            // A send in several parcels belongs to the one with the highest fence, if to any.
            parcels.sends[send] = max(fence, parcels.sends[send] ?? fence)
        }
        parcels.isAll = count == parcels.ids.count && count < settings.sweepSize
        return parcels
    }

    package func sweepExpired() async throws -> Recorded<Void> {
        try await expiries.during { try await sweepDueVerifications() }
    }

    private func sweepDueVerifications() async throws -> Recorded<Void> {
        let statement = lockDueVerifications(since: expiries.next())
        return try await pool.withTransaction { transaction in
            let answers = try transaction.run([statement, .clock])
            var oldest: Timestamp?
            var (over, others) = ([StoredVerification](), [VerificationID]())
            let now = try answers[1].clock()
            for row in answers[0] {
                let due = try Timestamp(row, 33)
                oldest = min(oldest ?? due, due)
                let verification = try [row].mapKnown { try StoredVerification($0) }.first
                if let verification, !verification.sendOpen, verification.expiresAt <= now {
                    over.append(verification)
                } else {
                    others.append(VerificationID(UUIDValue(try row.uuid(0))))
                }
            }
            let isAll = over.count + others.count < settings.sweepSize
            let changes = SweepDecision.expire(over.sorted { $0.id < $1.id }, now: now, source: settings.source)
            let postponing = others.isEmpty ? [] : [Self.postpone(others)]
            var pack = Pack(behind: [])
            if !over.isEmpty {
                pack.unpublished = try Self.verificationIDs(transaction.run([Self.unpublished(over.map(\.id))])[0])
            }
            let outbox = try write(changes, pack, transaction, after: postponing)
            expiries.note(isAll ? .nothing : oldest.map { .some(since: $0) } ?? .unknown, at: now)
            return Recorded((), outbox: outbox)
        }
    }

    func lockDueVerifications(since start: Timestamp?) -> Statement {
        Statement(
            """
            SELECT v.id, v.tenant, v.purpose, v.channel, v.subject, v.fingerprint, v.region, v.masked, v.sealed,
                v.seal_key, v.code_key, v.hash_key, v.generation, v.code_hash, v.code_length, v.state, v.status,
                v.checks_used, v.max_checks, v.sends_used, v.max_sends, v.send_open, v.sequence, v.resend_after,
                v.expires_at, v.policy_version, v.request_id, v.fictional, v.short_hash, v.short_until,
                v.used_providers, v.reason, v.waiting, v.due_at
            FROM courier.verification v
            WHERE v.ended_at IS NULL AND v.due_at <= statement_timestamp()
              AND v.due_at >= coalesce($2::timestamptz, '-infinity')
            ORDER BY v.due_at
            LIMIT $1
            FOR UPDATE SKIP LOCKED
            """,
            [.int32(settings.sweepSize), .timestamp(microsecondsSinceUnixEpoch: start?.microseconds)]
        )
    }

    /// Postpones verifications that are not over to their expiry, or by a second while a send is open.
    static func postpone(_ ids: [VerificationID]) -> Statement {
        Statement(
            """
            UPDATE courier.verification v
            SET due_at = greatest(v.expires_at, clock_timestamp() + interval '1 second')
            WHERE v.id = ANY ($1) AND v.id BETWEEN $2 AND $3
            """,
            bounded(ids.map(\.uuid.value))
        )
    }

    /// Locks and reads the open sends that belong to parcels, in the order of their ids.
    private func openSends(in parcels: DueParcels, _ transaction: Transaction) throws -> [DueSend] {
        let rows = try transaction.run([Self.lockOpenSends(parcels.sends.keys)])[0]
        return try rows.mapKnown { try DueSend($0) }
            .filter { parcels.sends[$0.reference.id] == $0.reference.fence }
            .sorted { $0.reference.id < $1.reference.id }
    }

    /// Locks the given sends that have no outcome and that no other transaction locks.
    static func lockOpenSends(_ ids: some Sequence<SendID>) -> Statement {
        Statement(
            """
            SELECT s.id, s.verification_id, s.fence, s.number,
                coalesce(
                    s.request_id, (SELECT v.request_id FROM courier.verification v WHERE v.id = s.verification_id), ''
                ),
                s.resend_window_ms, s.validity_ms, s.trace, s.generation, s.state, s.deadline, s.attempts, s.repeated,
                s.rendering, s.tried_providers, s.refused_by, s.provider
            FROM courier.send s
            WHERE s.id = ANY ($1) AND s.id BETWEEN $2 AND $3 AND s.state IN ('pending', 'claimed', 'dispatching')
            FOR UPDATE SKIP LOCKED
            """,
            bounded(ids.map(\.uuid.value))
        )
    }

    /// Claims sends; the raised fence makes every write of the previous claim change nothing.
    static func claim(_ claims: [ClaimedSend]) -> Statement {
        Statement(
            """
            UPDATE courier.send s
            SET state = 'claimed', fence = u.fence, repeated = u.repeated
            FROM (SELECT unnest($1::uuid[]) AS id, unnest($2::int4[]) AS fence, unnest($3::bool[]) AS repeated) AS u
            WHERE s.id = u.id
            """,
            [
                .uuids(claims.map(\.id.uuid.value)), .int32s(claims.map(\.reference.fence)),
                .bools(claims.map(\.isRepeat)),
            ]
        )
    }
}

extension DueSend {
    fileprivate init(_ row: Row) throws {
        guard let state = State(rawValue: try row.text(9)) else { throw UnknownValue() }
        self.init(
            reference: try SendReference(row),
            generation: try row.int32(8),
            state: state,
            deadline: try Timestamp(row, 10),
            attempts: try row.int16(11),
            isRepeated: try row.bool(12),
            refusers: try Self.names(row.optionalText(15)) ?? [],
            retryProvider: try row.optionalText(16),
            triedProviders: try Self.names(row.optionalText(14)),
            rendering: Rendering(json: try row.text(13))
        )
    }

    private static func names(_ text: String?) -> [String]? { text?.split(separator: " ").map(String.init) }
}
