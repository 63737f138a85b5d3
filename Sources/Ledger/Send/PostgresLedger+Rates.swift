// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
package import Verification

extension PostgresLedger: ProviderRates {
    /// The burst of a rate limit: the tokens of a tenth of a second, and at least one.
    ///
    /// Providers count messages by the second: a burst of a whole second's tokens would double the rate in the first
    /// second.
    static let burst = Duration.milliseconds(100)

    package func takeTokens(_ wanted: [String: TokenRequest]) async throws -> [String: TokenGrant] {
        guard !wanted.isEmpty else { return [:] }
        let statement = Self.take(wanted)
        let rows = try await pool.withSession { session in try session.execute(statement) }
        var grants: [String: TokenGrant] = [:]
        for row in rows {
            let provider = try row.text(0)
            guard let rate = wanted[provider]?.rate else { continue }
            // The tokens taken ahead of the next one, and that one itself, must fit into the burst.
            let ahead = Duration.microseconds(try row.int64(2))
            let interval = rate.interval
            let next = max(.zero, ahead + interval - max(Self.burst, interval))
            grants[provider] = TokenGrant(count: Int(try row.int32(1)), nextAfter: next)
        }
        return grants
    }

    /// Takes rate-limit tokens, row by row in the order of the providers' names.
    ///
    /// It uses the start of the statement, before it waits for the lock, as its time. So a statement that waited gets
    /// too few tokens, never too many, and the next one compensates.
    static func take(_ wanted: [String: TokenRequest]) -> Statement {
        let rows = wanted.sorted { $0.key < $1.key }
        return Statement(
            """
            WITH asked AS MATERIALIZED (
                -- 1. In microseconds: the unit of the rate, and the burst, which holds at least one token.
                SELECT u.*, greatest($5, (u.per + u.count - 1) / u.count) AS burst
                FROM unnest($1::text[], $2::int8[], $3::int8[], $4::int8[]) AS u(provider, wanted, count, per)
            ), fresh AS (
                SELECT a.*, greatest(0, least(a.wanted, a.burst * a.count / a.per)) AS granted FROM asked a
            )
            INSERT INTO courier.provider_rate AS r (provider, full_at, granted)
            SELECT f.provider,
                statement_timestamp() + (f.granted * f.per + f.count - 1) / f.count * interval '1 microsecond',
                f.granted
            FROM fresh f
            ORDER BY f.provider
            ON CONFLICT (provider) DO UPDATE SET (full_at, granted) = (
                -- 3. The time of a token is rounded up, so that rounding never lets more through.
                SELECT p.start + (t.granted * a.per + a.count - 1) / a.count * interval '1 microsecond', t.granted
                FROM asked a
                -- 2. The tokens that fit between those taken before and the end of the burst. After a slower rate, or
                --    a clock that was set back, the row counts as one without tokens left, not as one in debt; by the
                --    clock of now, since who waited for the lock finds what others took in the meantime.
                CROSS JOIN LATERAL (
                    SELECT least(
                        greatest(r.full_at, statement_timestamp()),
                        clock_timestamp() + a.burst * interval '1 microsecond'
                    ) AS start
                ) p
                CROSS JOIN LATERAL (
                    SELECT greatest(0, least(a.wanted, (
                        a.burst - (extract(epoch FROM p.start - statement_timestamp()) * 1000000)::bigint
                    ) * a.count / a.per)) AS granted
                ) t
                WHERE a.provider = excluded.provider
            )
            RETURNING r.provider, r.granted,
                (extract(epoch FROM r.full_at - statement_timestamp()) * 1000000)::bigint
            """,
            [
                .texts(rows.map(\.key)), .int64s(rows.map { Int64(min(max($0.value.count, 0), 1_000_000)) }),
                .int64s(rows.map(\.value.rate.boundedCount)),
                .int64s(rows.map(\.value.rate.boundedMicroseconds)), .int64(burst.microseconds),
            ]
        )
    }
}

extension RateLimit {
    /// The count within the range of the statement's arithmetic.
    fileprivate var boundedCount: Int64 { Int64(min(max(count, 1), 1_000_000_000)) }

    /// The period, up to a day.
    fileprivate var boundedMicroseconds: Int64 { min(max(per.microseconds, 1), 86_400_000_000) }

    /// The time per token, rounded up.
    fileprivate var interval: Duration { .microseconds((boundedMicroseconds + boundedCount - 1) / boundedCount) }
}
