-- SPDX-License-Identifier: Apache-2.0
-- The messages that a launch has used, and budgets' forecast by the hours of the day. Every statement may be run again.

-- maximum: the messages to unconfirmed people after which a launch is over. The brake's reader counts them; nobody writes
-- for a request. matured, of verifications that began before matured_to, is final; used has the younger ones, too.
ALTER TABLE courier.brake_override ADD COLUMN IF NOT EXISTS used bigint NOT NULL DEFAULT 0;
ALTER TABLE courier.brake_override ADD COLUMN IF NOT EXISTS matured bigint NOT NULL DEFAULT 0;
ALTER TABLE courier.brake_override ADD COLUMN IF NOT EXISTS matured_to timestamptz;

-- An order that is placed anew is signed anew, and its count begins anew; the reader's counts are no order.
CREATE OR REPLACE FUNCTION courier.sign_brake_order() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    NEW.created_at := clock_timestamp();
    NEW.created_by := session_user;
    NEW.used := 0;
    NEW.matured := 0;
    NEW.matured_to := NULL;
    RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER brake_override_signature
BEFORE INSERT OR UPDATE OF tenant, scope, key, action, until, maximum, reason, created_at, created_by
ON courier.brake_override
FOR EACH ROW EXECUTE FUNCTION courier.sign_brake_order();

-- A count changes the board only where it ends a launch.
CREATE OR REPLACE TRIGGER brake_override_version
AFTER INSERT OR DELETE OR UPDATE OF action, until, maximum, reason ON courier.brake_override
FOR EACH STATEMENT EXECUTE FUNCTION courier.raise_brake_version();

CREATE OR REPLACE TRIGGER brake_override_used
AFTER UPDATE OF used ON courier.brake_override
FOR EACH ROW WHEN (NEW.used >= NEW.maximum AND OLD.used < OLD.maximum)
EXECUTE FUNCTION courier.raise_brake_version();

SELECT courier.sample_less('courier.brake_override');

GRANT UPDATE (matured_to, matured, used) ON courier.brake_override TO courier_worker;

-- The usual spending of a budget in millionths a second, by the hour of the day in UTC: the median of the same hour over
-- the days, at most 14, since its first. NULL below three days.
CREATE OR REPLACE FUNCTION courier.budget_profile(of_tenant text, of_name text, at timestamptz)
RETURNS TABLE (hour integer, rate double precision)
LANGUAGE sql STABLE ROWS 24
SET search_path = pg_catalog, pg_temp
AS $$
    WITH spend AS MATERIALIZED (
        SELECT date_bin('1 hour', s.bucket, '2000-01-01 00:00:00+00') AS hour, sum(s.leased)::float8 / 3600 AS rate
        FROM courier.budget_spend s
        WHERE s.tenant = of_tenant AND s.name = of_name AND s.bucket >= at - interval '15 days'
        GROUP BY 1
    ),
    first AS MATERIALIZED (SELECT min(s.hour) AS hour FROM spend s)
    SELECT extract(hour FROM d.hour AT TIME ZONE 'UTC')::integer,
        CASE WHEN count(*) >= 3 THEN percentile_cont(0.5) WITHIN GROUP (ORDER BY coalesce(s.rate, 0)) END
    FROM first, generate_series(
        greatest(first.hour, date_bin('1 hour', at, '2000-01-01 00:00:00+00') - interval '14 days'),
        date_bin('1 hour', at, '2000-01-01 00:00:00+00') - interval '1 hour', interval '1 hour'
    ) AS d(hour)
    LEFT JOIN spend s ON s.hour = d.hour
    GROUP BY 1
$$;

-- The present rate of a budget in millionths a second, and the time at which the budget is used up; NULL if that is not
-- before the window has moved on, or the month is over.
--
-- The rate is that of the last two steps, or of this one, if that is higher and a twelfth of it is over. Each later hour
-- has what is usual for it, and what is spent now above or below the usual; the present rate where nothing is usual yet.
-- The money of the past that is still in a step's window is taken.
CREATE OR REPLACE FUNCTION courier.budget_forecast(
    of_tenant text, of_name text, of_period text, of_zone text, in_force bigint, at timestamptz
)
RETURNS TABLE (rate double precision, exhausted_at timestamptz)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
-- To compile it takes seconds, and to run it milliseconds.
SET jit = off
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
    -- 1. The steps of the future: the money that is left in the window while each lasts.
    future AS MATERIALIZED (
        SELECT
            CASE of_period WHEN 'month' THEN courier.budget_month_end(of_zone, at)
                ELSE step.bucket_end + k.k * step.length END AS ends_at,
            greatest(in_force - (
                SELECT coalesce(sum(s.leased), 0)::int8 FROM spend s
                WHERE s.bucket >= step.first_bucket + CASE of_period WHEN 'month' THEN 0 ELSE k.k END * step.length
            ), 0)::float8 AS room
        FROM step, generate_series(0, CASE of_period WHEN 'hour' THEN 11 WHEN 'day' THEN 23 ELSE 0 END) AS k(k)
    ),
    -- 2. The hours of the future, each with its rate and what is spent before it.
    usual AS MATERIALIZED (SELECT * FROM courier.budget_profile(of_tenant, of_name, at)),
    hours AS (
        SELECT greatest(h.hour, at) AS begins_at, h.hour + interval '1 hour' AS ends_at,
            CASE WHEN h.hour <= at THEN pace.rate
                ELSE greatest(pace.rate + coalesce(u.rate - present.rate, 0), 0) END AS rate
        FROM pace, generate_series(
            date_bin('1 hour', at, '2000-01-01 00:00:00+00'), (SELECT max(f.ends_at) FROM future f), interval '1 hour'
        ) AS h(hour)
        LEFT JOIN usual u ON u.hour = extract(hour FROM h.hour AT TIME ZONE 'UTC')
        LEFT JOIN usual present ON present.hour = extract(hour FROM at AT TIME ZONE 'UTC')
    ),
    paid AS (
        SELECT h.begins_at, h.rate, extract(epoch FROM h.ends_at - h.begins_at)::float8 AS seconds,
            coalesce(sum(h.rate * extract(epoch FROM h.ends_at - h.begins_at)::float8) OVER (
                ORDER BY h.begins_at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ), 0) AS before
        FROM hours h
    )
    -- 3. The first time at which what is spent until then is what a step has left.
    SELECT pace.rate, (
        SELECT min(e.at)
        FROM future f
        CROSS JOIN LATERAL (
            SELECT p.begins_at + make_interval(secs => (f.room - p.before) / p.rate) AS at
            FROM paid p
            WHERE p.rate > 0 AND f.room >= p.before AND f.room <= p.before + p.rate * p.seconds
        ) AS e
        WHERE e.at <= f.ends_at
    )
    FROM pace
$$;

REVOKE ALL ON FUNCTION courier.budget_profile(text, text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.budget_profile(text, text, timestamptz) TO courier_worker, courier_operator;
