-- SPDX-License-Identifier: Apache-2.0
-- Budgets: months in steps of an hour, the forecast, and the messages of the past. Every statement may be run again.

-- The end of the calendar month that a time is in.
CREATE OR REPLACE FUNCTION courier.budget_month_end(of_zone text, at timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT (date_trunc('month', at AT TIME ZONE of_zone) + interval '1 month') AT TIME ZONE of_zone
$$;

-- The step of a window that a time is in, when it ends, and when the window begins whose last step it is. Steps of a month
-- are its zone's hours, so that none is in two months. length: NULL for a month.
CREATE OR REPLACE FUNCTION courier.budget_window(of_period text, of_zone text, at timestamptz)
RETURNS TABLE (bucket timestamptz, bucket_end timestamptz, first_bucket timestamptz, length interval)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT b.bucket,
        b.bucket + CASE of_period WHEN 'hour' THEN interval '5 minutes' ELSE interval '1 hour' END,
        CASE of_period
            WHEN 'hour' THEN b.bucket - interval '55 minutes'
            WHEN 'day' THEN b.bucket - interval '23 hours'
            ELSE date_trunc('month', at, of_zone)
        END,
        CASE of_period WHEN 'hour' THEN interval '1 hour' WHEN 'day' THEN interval '24 hours' END
    FROM (
        SELECT CASE of_period
            WHEN 'hour' THEN date_bin('5 minutes', at, '2000-01-01 00:00:00+00')
            WHEN 'day' THEN date_bin('1 hour', at, '2000-01-01 00:00:00+00')
            ELSE date_trunc('hour', at, of_zone)
        END AS bucket
    ) AS b
$$;

-- Leases money as in 0014_budget; a month's next money comes with the next month.
CREATE OR REPLACE FUNCTION courier.lease_budget(
    tenants text[], names text[], periods text[], zones text[], currencies text[], amounts bigint[], reserves integer[],
    modes text[], open_least bigint[], open_most bigint[], reserved_least bigint[], reserved_most bigint[]
)
RETURNS TABLE (
    tenant text, name text, bucket timestamptz, left_us bigint, amount bigint, used_before bigint,
    granted_open bigint, granted_reserved bigint, renewal timestamptz
)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    ask record;
    step record;
    at timestamptz;
    used bigint;
    first_used timestamptz;
    room bigint;
BEGIN
    INSERT INTO courier.budget AS b (tenant, name, period, time_zone, currency, amount, reserve, mode, leased_at)
    SELECT a.tenant, a.name, a.period, a.zone, a.currency, a.amount, a.reserve, a.mode, clock_timestamp()
    FROM unnest(tenants, names, periods, zones, currencies, amounts, reserves, modes)
        AS a(tenant, name, period, zone, currency, amount, reserve, mode)
    ORDER BY a.tenant COLLATE "C", a.name COLLATE "C"
    ON CONFLICT ON CONSTRAINT budget_pkey DO UPDATE
    SET period = excluded.period, time_zone = excluded.time_zone, currency = excluded.currency,
        amount = excluded.amount, reserve = excluded.reserve, mode = excluded.mode, leased_at = excluded.leased_at;

    at := clock_timestamp();
    FOR ask IN
        SELECT a.*, coalesce(r.amount, a.amount) AS amount_in_force
        FROM unnest(tenants, names, periods, zones, amounts, reserves, open_least, open_most, reserved_least, reserved_most)
            AS a(tenant, name, period, zone, amount, reserve, open_least, open_most, reserved_least, reserved_most)
        LEFT JOIN courier.budget_raise r ON r.tenant = a.tenant AND r.name = a.name AND r.until > at
        ORDER BY a.tenant COLLATE "C", a.name COLLATE "C"
    LOOP
        SELECT * INTO step FROM courier.budget_window(ask.period, ask.zone, at);
        SELECT coalesce(sum(s.leased), 0), min(s.bucket) FILTER (WHERE s.leased > 0) INTO used, first_used
        FROM courier.budget_spend s
        WHERE s.tenant = ask.tenant AND s.name = ask.name AND s.bucket >= step.first_bucket;

        tenant := ask.tenant;
        name := ask.name;
        bucket := step.bucket;
        left_us := extract(epoch FROM step.bucket_end - at) * 1000000;
        amount := ask.amount_in_force;
        used_before := used;
        room := greatest(amount - amount * ask.reserve / 100 - used, 0);
        granted_open := least(ask.open_most, greatest(ask.open_least, room / 64), room);
        room := greatest(amount - used - granted_open, 0);
        granted_reserved := least(ask.reserved_most, greatest(ask.reserved_least, room / 64), room);
        renewal := coalesce(
            first_used + step.length,
            CASE ask.period WHEN 'month' THEN courier.budget_month_end(ask.zone, at) ELSE step.bucket_end END
        );
        IF granted_open + granted_reserved > 0 THEN
            INSERT INTO courier.budget_spend AS s (tenant, name, bucket, leased)
            VALUES (ask.tenant, ask.name, step.bucket, granted_open + granted_reserved)
            ON CONFLICT ON CONSTRAINT budget_spend_pkey DO UPDATE SET leased = s.leased + excluded.leased;
        END IF;
        IF used = 0 THEN
            DELETE FROM courier.budget_spend s
            WHERE s.tenant = ask.tenant AND s.name = ask.name AND s.bucket < at - interval '62 days';
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;

-- The present rate of a budget in millionths a second, and the time at which the budget is used up at it; NULL if that is
-- not before the window has moved on, or the month is over.
--
-- The rate is that of the last two steps, or of this one, if that is higher and a twelfth of it is over. Each step of the
-- future has the rate, and the money of the past that is still in its window.
CREATE OR REPLACE FUNCTION courier.budget_forecast(
    of_tenant text, of_name text, of_period text, of_zone text, in_force bigint, at timestamptz
)
RETURNS TABLE (rate double precision, exhausted_at timestamptz)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    WITH step AS MATERIALIZED (
        SELECT w.bucket, w.bucket_end, w.first_bucket, w.bucket_end - w.bucket AS length,
            w.bucket - (w.bucket_end - w.bucket) AS previous
        FROM courier.budget_window(of_period, of_zone, at) AS w
    ),
    spend AS MATERIALIZED (
        SELECT s.bucket, s.leased
        FROM step, courier.budget_spend s
        WHERE s.tenant = of_tenant AND s.name = of_name AND s.bucket >= least(step.first_bucket, step.previous)
    ),
    pace AS MATERIALIZED (
        SELECT greatest(
            sum(s.leased) FILTER (WHERE s.bucket >= step.previous)
                / extract(epoch FROM at - step.previous)::float8,
            CASE WHEN at >= step.bucket + step.length / 12
                THEN sum(s.leased) FILTER (WHERE s.bucket >= step.bucket)
                    / extract(epoch FROM at - step.bucket)::float8 END,
            0
        )::float8 AS rate
        FROM step LEFT JOIN spend s ON true
        GROUP BY step.previous, step.bucket, step.length
    ),
    future AS (
        SELECT
            CASE of_period WHEN 'month' THEN courier.budget_month_end(of_zone, at)
                ELSE step.bucket_end + k.k * step.length END AS ends_at,
            greatest(in_force - (
                SELECT coalesce(sum(s.leased), 0)::int8 FROM spend s
                WHERE s.bucket >= step.first_bucket + CASE of_period WHEN 'month' THEN 0 ELSE k.k END * step.length
            ), 0)::float8 AS room
        FROM step, generate_series(0, CASE of_period WHEN 'hour' THEN 11 WHEN 'day' THEN 23 ELSE 0 END) AS k(k)
    )
    SELECT pace.rate, (
        SELECT min(at + make_interval(
            secs => CASE WHEN f.room <= pace.rate * extract(epoch FROM f.ends_at - at)::float8 THEN f.room / pace.rate END
        ))
        FROM future f
        WHERE pace.rate > 0
    )
    FROM pace
$$;

-- The time of an id: its first 48 bits are the milliseconds since 1970.
CREATE OR REPLACE FUNCTION courier.uuid_time(id uuid) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT to_timestamp(('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::int8 / 1000.0)
$$;

-- The messages that left, or may have, by the minute in which they were decided. No row names a person: a number is known by
-- its region alone. since and before are whole minutes.
--
-- by_hour: of an hour whose messages are no longer stored, from courier.conversion, evenly over its minutes. It has no purpose
-- and no segments, and lacks messages that a block explains.
CREATE OR REPLACE FUNCTION courier.budget_history(since timestamptz, before timestamptz)
RETURNS TABLE (
    minute timestamptz, tenant text, purpose text, channel text, region text, provider text, segments smallint,
    confirmed boolean, is_first boolean, approved boolean, by_hour boolean, messages bigint
)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    WITH stored AS MATERIALIZED (
        -- 1. The first hour whose messages are stored.
        SELECT coalesce(date_trunc('hour', courier.uuid_time((
            SELECT s.id FROM courier.send s ORDER BY s.id LIMIT 1
        )), 'UTC'), 'infinity') AS since
    ),
    exact AS (
        -- 2. Stored messages.
        SELECT m.minute, v.tenant, v.purpose, v.channel, v.region, s.provider, s.segments,
            coalesce(v.confirmed, false) AS confirmed, s.number = 1 AS is_first, v.state = 'approved' AS approved
        FROM generate_series(since, before - interval '1 minute', interval '1 minute') AS m(minute)
        JOIN courier.send s ON s.id >= courier.uuid_floor(m.minute)
            AND s.id < courier.uuid_floor(m.minute + interval '1 minute')
        -- Five messages with a validity of a day each.
        JOIN courier.verification v ON v.id = s.verification_id
            AND v.id >= courier.uuid_floor(since - interval '6 days')
            AND v.id < courier.uuid_floor(before + interval '1 minute')
        WHERE s.id >= courier.uuid_floor(since) AND s.id < courier.uuid_floor(before)
            AND s.state IN ('sent', 'unknown', 'delivered', 'undelivered')
            AND v.region IS NOT NULL AND NOT v.fictional
    ),
    hourly AS (
        -- 3. Sums of the hours before, as the n-th minute's part of each kind of messages.
        SELECT c.hour + n.n * interval '1 minute' AS minute, c.tenant, c.region, nullif(c.provider, '') AS provider,
            c.confirmed, k.is_first, k.approved, k.messages * (n.n + 1) / 60 - k.messages * n.n / 60 AS messages
        FROM courier.conversion c
        CROSS JOIN LATERAL (
            VALUES (true, true, c.approved), (true, false, c.verifications - c.approved),
                (false, false, c.sends - c.verifications)
        ) AS k(is_first, approved, messages)
        CROSS JOIN generate_series(0, 59) AS n(n)
        WHERE c.hour > since - interval '1 hour' AND c.hour < before AND c.hour < (SELECT stored.since FROM stored)
    )
    SELECT e.minute, e.tenant, e.purpose, e.channel, e.region, e.provider, e.segments, e.confirmed, e.is_first, e.approved,
        false, count(*)
    FROM exact e
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
    UNION ALL
    SELECT h.minute, h.tenant, NULL, 'sms', h.region, h.provider, NULL, h.confirmed, h.is_first, h.approved, true, h.messages
    FROM hourly h
    WHERE h.messages > 0 AND h.minute >= since AND h.minute < before
    ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
$$;

REVOKE ALL ON FUNCTION courier.budget_month_end(text, timestamptz),
    courier.budget_forecast(text, text, text, text, bigint, timestamptz),
    courier.uuid_time(uuid), courier.budget_history(timestamptz, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.budget_month_end(text, timestamptz),
    courier.budget_forecast(text, text, text, text, bigint, timestamptz) TO courier_worker, courier_operator;
GRANT EXECUTE ON FUNCTION courier.budget_history(timestamptz, timestamptz) TO courier_operator;
