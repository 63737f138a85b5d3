-- SPDX-License-Identifier: Apache-2.0
-- Budgets: the money that the fleet leased, by steps of each budget's window. Every statement may be run again.

-- The budgets as the newest lease found them in the policy. Amounts are millionths of the currency's unit.
CREATE TABLE IF NOT EXISTS courier.budget (
    tenant text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    period text NOT NULL CHECK (period IN ('hour', 'day', 'month')),
    time_zone text NOT NULL,
    currency text NOT NULL,
    amount bigint NOT NULL,
    reserve integer NOT NULL,          -- percent that is kept for confirmed people
    mode text NOT NULL,
    leased_at timestamptz NOT NULL,
    PRIMARY KEY (tenant, name)
);

-- The money that was leased in a step of a window, less what came back. What a worker that died had left stays.
CREATE TABLE IF NOT EXISTS courier.budget_spend (
    tenant text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    bucket timestamptz NOT NULL,
    leased bigint NOT NULL CHECK (leased >= 0),
    PRIMARY KEY (tenant, name, bucket)
) WITH (fillfactor = 50);

-- Operators' amounts, which replace the policy's for a time.
CREATE TABLE IF NOT EXISTS courier.budget_raise (
    tenant text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    until timestamptz NOT NULL,
    reason text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_by text NOT NULL DEFAULT session_user,
    PRIMARY KEY (tenant, name)
);

-- The step of a window that a time is in, when it ends, and when the window begins whose last step it is.
CREATE OR REPLACE FUNCTION courier.budget_window(of_period text, of_zone text, at timestamptz)
RETURNS TABLE (bucket timestamptz, bucket_end timestamptz, first_bucket timestamptz, length interval)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT b.bucket,
        CASE of_period
            WHEN 'hour' THEN b.bucket + interval '5 minutes'
            WHEN 'day' THEN b.bucket + interval '1 hour'
            ELSE (b.bucket AT TIME ZONE of_zone + interval '1 month') AT TIME ZONE of_zone
        END,
        CASE of_period
            WHEN 'hour' THEN b.bucket - interval '55 minutes'
            WHEN 'day' THEN b.bucket - interval '23 hours'
            ELSE b.bucket
        END,
        CASE of_period WHEN 'hour' THEN interval '1 hour' WHEN 'day' THEN interval '24 hours' END
    FROM (
        SELECT CASE of_period
            WHEN 'hour' THEN date_bin('5 minutes', at, '2000-01-01 00:00:00+00')
            WHEN 'day' THEN date_bin('1 hour', at, '2000-01-01 00:00:00+00')
            ELSE date_trunc('month', at, of_zone)
        END AS bucket
    ) AS b
$$;

-- Leases money for each ask as far as its budget has room: at least the first amount of a pair if it can, at most the
-- second one as far as that is a 64th of the room. open: for everybody, up to the reserve. reserved: for confirmed people,
-- up to the whole amount.
--
-- The row of a budget is locked before its leases are added up, so that two workers never lease the same money. Budgets
-- are locked in the order of their keys.
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
        renewal := coalesce(first_used + step.length, step.bucket_end);
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

REVOKE ALL ON FUNCTION courier.budget_window(text, text, timestamptz) FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.lease_budget(
    text[], text[], text[], text[], text[], bigint[], integer[], text[], bigint[], bigint[], bigint[], bigint[]
) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.budget_window(text, text, timestamptz) TO courier_worker, courier_operator;
GRANT EXECUTE ON FUNCTION courier.lease_budget(
    text[], text[], text[], text[], text[], bigint[], integer[], text[], bigint[], bigint[], bigint[], bigint[]
) TO courier_worker;

SELECT courier.sample_less('courier.budget'), courier.sample_less('courier.budget_spend'),
    courier.sample_less('courier.budget_raise');

GRANT SELECT, INSERT, UPDATE ON courier.budget TO courier_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON courier.budget_spend TO courier_worker;
GRANT SELECT ON courier.budget_raise TO courier_worker;
GRANT SELECT ON courier.budget, courier.budget_spend TO courier_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON courier.budget_raise TO courier_operator;
