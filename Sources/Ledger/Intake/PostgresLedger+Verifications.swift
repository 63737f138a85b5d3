// SPDX-License-Identifier: Apache-2.0

import Formats
package import PostgresClient
package import Verification

extension PostgresLedger {
    /// Locks verifications in the order of their ids.
    package static func lockVerifications(_ ids: some Sequence<VerificationID>) -> Statement {
        Statement(
            """
            SELECT v.id, v.tenant, v.purpose, v.channel, v.subject, v.fingerprint, v.region, v.masked, v.sealed,
                v.seal_key, v.code_key, v.hash_key, v.generation, v.code_hash, v.code_length, v.state, v.status,
                v.checks_used, v.max_checks, v.sends_used, v.max_sends, v.send_open, v.sequence, v.resend_after,
                v.expires_at, v.policy_version, v.request_id, v.fictional, v.short_hash, v.short_until,
                v.used_providers, v.reason, v.waiting
            FROM (SELECT unnest($1::uuid[]) AS id) AS u JOIN courier.verification v ON v.id = u.id
            ORDER BY v.id
            FOR UPDATE OF v
            """,
            [.uuids(ids.map(\.uuid.value).sorted())]
        )
    }

    static func existingVerifications(_ ids: some Sequence<VerificationID>) -> Statement {
        Statement(
            "SELECT v.id FROM courier.verification v WHERE v.id = ANY ($1::uuid[]) AND v.id BETWEEN $2 AND $3",
            bounded(ids.map(\.uuid.value))
        )
    }

    /// Verifications that are locked without waiting, and the ids of those that another transaction locks.
    struct FreeVerifications {
        let free: [VerificationID: StoredVerification]
        let busy: Set<VerificationID>

        static func lock(_ ids: Set<VerificationID>) -> [Statement] {
            [lockVerifications(ids).skippingLocked, existingVerifications(ids)]
        }

        /// Decodes the answers to the statements of `lock`.
        init(_ locked: Rows, _ existing: Rows) throws {
            free = try verifications(locked)
            busy = try verificationIDs(existing).subtracting(free.keys)
        }
    }

    static func verificationIDs(_ rows: Rows) throws -> Set<VerificationID> {
        Set(try rows.map { VerificationID(UUIDValue(try $0.uuid(0))) })
    }

    /// Decodes the rows that this version can read.
    static func verifications(_ rows: Rows) throws -> [VerificationID: StoredVerification] {
        var verifications = [VerificationID: StoredVerification](minimumCapacity: rows.count)
        for verification in try rows.mapKnown({ try StoredVerification($0) }) {
            verifications[verification.id] = verification
        }
        return verifications
    }

    package static func insertVerifications(_ rows: [StoredVerification], _ pack: Pack) -> Statement {
        Statement(
            """
            INSERT INTO courier.verification (
                id, tenant, purpose, channel, subject, fingerprint, region, masked, sealed, seal_key, code_key,
                hash_key, generation, code_hash, code_length, state, status, checks_used, max_checks, sends_used,
                max_sends, send_open, sequence, resend_after, expires_at, due_at, policy_version,
                request_id, fictional, short_hash, short_until, used_providers, pack, waiting, client_key, prefix_key,
                range_key, confirmed
            )
            SELECT
                unnest($1::uuid[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]), unnest($5::text[]),
                unnest($6::bytea[]), unnest($7::text[]), unnest($8::text[]), unnest($9::bytea[]), unnest($10::int2[]),
                unnest($11::int2[]), unnest($12::int2[]), unnest($13::int4[]), unnest($14::bytea[]),
                unnest($15::int2[]), unnest($16::text[]), unnest($17::text[]), unnest($18::int2[]),
                unnest($19::int2[]), unnest($20::int2[]), unnest($21::int2[]), unnest($22::bool[]),
                unnest($23::int4[]), unnest($24::timestamptz[]), unnest($25::timestamptz[]),
                unnest($25::timestamptz[]), unnest($26::text[]), unnest($27::text[]), unnest($28::bool[]),
                unnest($29::bytea[]), unnest($30::timestamptz[]), unnest($31::text[]), unnest($32::int8[]),
                unnest($33::text[]), unnest($34::int8[]), unnest($35::int8[]), unnest($36::int8[]),
                unnest($37::bool[])
            """,
            [
                .uuids(rows.map(\.id.uuid.value)), .texts(rows.map(\.tenant)),
                .texts(rows.map(\.purpose.rawValue)), .texts(rows.map(\.channel.rawValue)),
                .texts(rows.map(\.subject)), .bytesArray(rows.map(\.fingerprint)),
                .texts(rows.map(\.region?.code)), .texts(rows.map(\.masked)),
                .bytesArray(rows.map(\.sealed)), .int16s(rows.map(\.sealKey.number)),
                .int16s(rows.map(\.codeKey.number)), .int16s(rows.map(\.hashKey.number)),
                .int32s(rows.map(\.generation)), .bytesArray(rows.map(\.codeHash)),
                .int16s(rows.map(\.codeLength)), .texts(rows.map(\.state.rawValue)),
                .texts(rows.map(\.status?.rawValue)), .int16s(rows.map(\.checksUsed)),
                .int16s(rows.map(\.maxChecks)), .int16s(rows.map(\.sendsUsed)),
                .int16s(rows.map(\.maxSends)), .bools(rows.map(\.sendOpen)),
                .int32s(rows.map(\.sequence)), .timestamps(rows.map(\.resendAfter.microseconds)),
                .timestamps(rows.map(\.expiresAt.microseconds)), .texts(rows.map(\.policyVersion)),
                .texts(rows.map(\.requestID)), .bools(rows.map(\.isFictional)),
                .bytesArray(rows.map(\.shortCode?.hash)), .timestamps(rows.map(\.shortCode?.until.microseconds)),
                .texts(rows.map(\.usedProvidersText)), .int64s(rows.map { $0.sequence > 0 ? pack.id : nil }),
                .texts(rows.map(\.waitingText)), .int64s(rows.map(\.brakeKeys?.client)),
                .int64s(rows.map(\.brakeKeys?.prefix)), .int64s(rows.map(\.brakeKeys?.range)),
                .bools(rows.map(\.brakeKeys?.isConfirmed)),
            ]
        )
    }

    /// Writes outcomes to verifications that have not changed since their sends were claimed, except by wrong guesses.
    ///
    /// `known` has the rows as they were then.
    package static func settleVerifications(
        _ rows: [StoredVerification],
        known: [VerificationID: StoredVerification],
        _ pack: Pack
    ) -> Statement {
        Statement(
            """
            UPDATE courier.verification v
            SET status = u.status, sends_used = u.sends_used, send_open = u.send_open, sequence = u.sequence,
                resend_after = u.resend_after, expires_at = u.expires_at, due_at = least(v.due_at, u.expires_at),
                short_until = u.short_until, used_providers = u.used_providers, reason = u.reason,
                pack = coalesce(u.pack, v.pack)
            FROM (
                SELECT
                    unnest($1::uuid[]) AS id, unnest($2::text[]) AS status, unnest($3::int2[]) AS sends_used,
                    unnest($4::bool[]) AS send_open, unnest($5::int4[]) AS sequence,
                    unnest($6::timestamptz[]) AS resend_after, unnest($7::timestamptz[]) AS expires_at,
                    unnest($8::timestamptz[]) AS short_until, unnest($9::text[]) AS used_providers,
                    unnest($10::timestamptz[]) AS known_expiry, unnest($11::int8[]) AS pack,
                    unnest($12::text[]) AS reason
            ) AS u
            WHERE v.id = u.id AND v.sequence = u.sequence - 1 AND v.state = 'live' AND v.expires_at = u.known_expiry
            RETURNING v.id
            """,
            [
                .uuids(rows.map(\.id.uuid.value)), .texts(rows.map(\.status?.rawValue)),
                .int16s(rows.map(\.sendsUsed)), .bools(rows.map(\.sendOpen)), .int32s(rows.map(\.sequence)),
                .timestamps(rows.map(\.resendAfter.microseconds)),
                .timestamps(rows.map(\.expiresAt.microseconds)),
                .timestamps(rows.map(\.shortCode?.until.microseconds)), .texts(rows.map(\.usedProvidersText)),
                .timestamps(rows.map { known[$0.id]?.expiresAt.microseconds }),
                .int64s(rows.map { pack.id(for: $0.id) }), .texts(rows.map(\.reason)),
            ]
        )
    }

    /// Writes decided changes to verifications that were locked when they were read.
    package static func updateVerifications(_ rows: [StoredVerification], _ pack: Pack) -> Statement {
        Statement(
            """
            UPDATE courier.verification v
            SET code_key = u.code_key, hash_key = u.hash_key, generation = u.generation, code_hash = u.code_hash,
                code_length = u.code_length, status = u.status, checks_used = u.checks_used,
                sends_used = u.sends_used, send_open = u.send_open, sequence = u.sequence,
                resend_after = u.resend_after, expires_at = u.expires_at, due_at = least(v.due_at, u.expires_at),
                policy_version = u.policy_version,
                state = u.state, short_hash = u.short_hash, short_until = u.short_until,
                used_providers = u.used_providers, reason = u.reason, waiting = u.waiting,
                pack = CASE WHEN u.sequence > v.sequence THEN coalesce(u.pack, v.pack) ELSE v.pack END,
                sealed = CASE u.state WHEN 'live' THEN v.sealed END,
                ended_at = CASE WHEN u.state = 'expired' THEN coalesce(v.ended_at, clock_timestamp())
                    ELSE v.ended_at END
            FROM (
                SELECT
                    unnest($1::uuid[]) AS id, unnest($2::int2[]) AS code_key, unnest($3::int2[]) AS hash_key,
                    unnest($4::int4[]) AS generation, unnest($5::bytea[]) AS code_hash,
                    unnest($6::int2[]) AS code_length, unnest($7::text[]) AS status,
                    unnest($8::int2[]) AS checks_used, unnest($9::int2[]) AS sends_used,
                    unnest($10::bool[]) AS send_open, unnest($11::int4[]) AS sequence,
                    unnest($12::timestamptz[]) AS resend_after, unnest($13::timestamptz[]) AS expires_at,
                    unnest($14::text[]) AS policy_version, unnest($15::text[]) AS state,
                    unnest($16::bytea[]) AS short_hash, unnest($17::timestamptz[]) AS short_until,
                    unnest($18::text[]) AS used_providers, unnest($19::int8[]) AS pack, unnest($20::text[]) AS reason,
                    unnest($21::text[]) AS waiting
            ) AS u
            WHERE v.id = u.id
            """,
            [
                .uuids(rows.map(\.id.uuid.value)), .int16s(rows.map(\.codeKey.number)),
                .int16s(rows.map(\.hashKey.number)), .int32s(rows.map(\.generation)),
                .bytesArray(rows.map(\.codeHash)), .int16s(rows.map(\.codeLength)),
                .texts(rows.map(\.status?.rawValue)), .int16s(rows.map(\.checksUsed)),
                .int16s(rows.map(\.sendsUsed)), .bools(rows.map(\.sendOpen)), .int32s(rows.map(\.sequence)),
                .timestamps(rows.map(\.resendAfter.microseconds)),
                .timestamps(rows.map(\.expiresAt.microseconds)), .texts(rows.map(\.policyVersion)),
                .texts(rows.map(\.state.rawValue)), .bytesArray(rows.map(\.shortCode?.hash)),
                .timestamps(rows.map(\.shortCode?.until.microseconds)), .texts(rows.map(\.usedProvidersText)),
                .int64s(rows.map { pack.id(for: $0.id) }), .texts(rows.map(\.reason)),
                .texts(rows.map(\.waitingText)),
            ]
        )
    }
}

extension StoredVerification {
    /// Reads a row of `lockVerifications`, or of another statement with the same columns.
    init(_ row: Row) throws {
        guard let channel = Channel(rawValue: try row.text(3)), let state = State(rawValue: try row.text(15)) else {
            throw UnknownValue()
        }
        let providers = StoredProviders(try row.optionalText(30))
        self.init(
            id: VerificationID(UUIDValue(try row.uuid(0))),
            requestID: try row.text(26),
            tenant: try row.text(1),
            purpose: try Purpose(stored: row.text(2)),
            channel: channel,
            subject: try row.optionalText(4),
            fingerprint: try row.bytes(5),
            region: try row.optionalText(6).flatMap { Region($0) ?? .unknown },
            masked: try row.text(7),
            sealed: try row.optionalBytes(8),
            sealKey: KeyID(try row.int16(9)),
            codeKey: KeyID(try row.int16(10)),
            hashKey: KeyID(try row.int16(11)),
            generation: try row.int32(12),
            codeHash: try row.bytes(13),
            shortCode: try ShortCode(row),
            codeLength: try row.optionalInt16(14),
            state: state,
            status: try row.optionalText(16).flatMap(DeliveryStatus.init(rawValue:)),
            reason: try row.optionalText(31),
            checksUsed: try row.int16(17),
            maxChecks: try row.int16(18),
            sendsUsed: try row.int16(19),
            maxSends: try row.int16(20),
            sendOpen: try row.bool(21),
            waiting: try row.optionalText(32)?.split(separator: "\n").map(String.init) ?? [],
            sequence: try row.int32(22),
            resendAfter: try Timestamp(row, 23),
            expiresAt: try Timestamp(row, 24),
            policyVersion: try row.text(25),
            isFictional: try row.bool(27),
            usedProviders: providers.used,
            optedOutAt: providers.optedOutAt
        )
    }
}

extension StoredVerification {
    /// The column `waiting`; no request id has a line break.
    fileprivate var waitingText: String? { waiting.isEmpty ? nil : waiting.joined(separator: "\n") }

    fileprivate var usedProvidersText: String? {
        StoredProviders(used: usedProviders, optedOutAt: optedOutAt).text
    }
}

/// The column `used_providers`: names separated by spaces, then the provider of an opt-out with a `!` before it.
///
/// No name has a `!`, so a worker of an earlier version reads that entry as a provider that its routes do not name.
private struct StoredProviders {
    var used: [String] = []
    var optedOutAt: String?

    init(used: [String], optedOutAt: String?) {
        (self.used, self.optedOutAt) = (used, optedOutAt)
    }

    init(_ text: String?) {
        for name in text?.split(separator: " ") ?? [] {
            if name.first == "!" { optedOutAt = String(name.dropFirst()) } else { used.append(String(name)) }
        }
    }

    var text: String? {
        let entries = used + [optedOutAt.map { "!\($0)" }].compactMap(\.self)
        return entries.isEmpty ? nil : entries.joined(separator: " ")
    }
}

extension StoredVerification.ShortCode {
    /// Nil when the row has no short code.
    fileprivate init?(_ row: Row) throws {
        guard let hash = try row.optionalBytes(28), let until = try row.optionalTimestamp(29) else { return nil }
        self.init(hash: hash, until: Timestamp(microseconds: until))
    }
}

extension Purpose {
    init(stored text: String) throws(UnknownValue) {
        guard let purpose = Purpose(rawValue: text) else { throw UnknownValue() }
        self = purpose
    }
}
