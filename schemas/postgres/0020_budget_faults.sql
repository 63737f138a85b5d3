-- SPDX-License-Identifier: Apache-2.0
-- Budgets: unknown time zones, signed amounts, and the end of old steps. Every statement may be run again.

-- True if this server knows a time zone: that depends on its files.
CREATE OR REPLACE FUNCTION courier.is_time_zone(zone text) RETURNS boolean
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM statement_timestamp() AT TIME ZONE zone;
    RETURN true;
EXCEPTION WHEN invalid_parameter_value THEN
    RETURN false;
END
$$;

-- Leases money as in 0015_budget_steps. An ask whose time zone the server does not know gets no row and no money, so that
-- it stops no other; steps of 62 days ago are deleted however busy the budget is.
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
    WHERE CASE a.zone WHEN 'UTC' THEN true ELSE courier.is_time_zone(a.zone) END
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
        WHERE CASE a.zone WHEN 'UTC' THEN true ELSE courier.is_time_zone(a.zone) END
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
        DELETE FROM courier.budget_spend s
        WHERE s.tenant = ask.tenant AND s.name = ask.name AND s.bucket < at - interval '62 days';
        RETURN NEXT;
    END LOOP;
END
$$;

-- An amount that is placed anew is signed anew, by nobody but its login.
CREATE OR REPLACE FUNCTION courier.sign_budget_raise() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    NEW.created_at := clock_timestamp();
    NEW.created_by := session_user;
    RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER budget_raise_signature
BEFORE INSERT OR UPDATE ON courier.budget_raise
FOR EACH ROW EXECUTE FUNCTION courier.sign_budget_raise();

REVOKE ALL ON FUNCTION courier.is_time_zone(text), courier.sign_budget_raise() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.is_time_zone(text) TO courier_worker, courier_operator;
