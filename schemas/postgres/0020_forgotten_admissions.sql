-- SPDX-License-Identifier: Apache-2.0
-- Admissions that are read past those which were forgotten: their index entries stay for as long as somebody's snapshot
-- does, and each batch would pass them by while it holds its tenants' gates. Every statement may be run again.

-- Of a tenant no admission is left from before this moment.
ALTER TABLE courier.tenant_gate ADD COLUMN IF NOT EXISTS forgotten_at timestamptz NOT NULL DEFAULT '-infinity';

SELECT courier.sample_less('courier.tenant_gate');

-- As before, but a clock that was set back may make admissions earlier than those that were forgotten.
CREATE OR REPLACE FUNCTION courier.count_admission_on() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    latest courier.tenant_admission;
BEGIN
    SELECT a.* INTO latest FROM courier.tenant_admission a
    WHERE a.tenant = NEW.tenant ORDER BY a.admitted_at DESC, a.id DESC LIMIT 1;
    IF latest.admitted_at > clock_timestamp() THEN
        -- The clock was set back: what it called later is not.
        UPDATE courier.tenant_admission a SET admitted_at = NEW.admitted_at
        WHERE a.tenant = NEW.tenant AND a.admitted_at > NEW.admitted_at;
        UPDATE courier.tenant_gate g SET forgotten_at = '-infinity' WHERE g.tenant = NEW.tenant;
        latest.admitted_at := NEW.admitted_at;
    END IF;
    NEW.admitted_at := greatest(NEW.admitted_at, latest.admitted_at);
    NEW.total := coalesce(latest.total, 0) + NEW.count;
    RETURN NEW;
END
$$;

-- What a tenant was let through after a moment.
CREATE OR REPLACE FUNCTION courier.tenant_usage(of_tenant text, since timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    first_at CONSTANT timestamptz := coalesce(
        (SELECT g.forgotten_at FROM courier.tenant_gate g WHERE g.tenant = of_tenant), '-infinity'
    );
BEGIN
    RETURN coalesce((
        SELECT a.total FROM courier.tenant_admission a
        WHERE a.tenant = of_tenant AND a.admitted_at >= first_at ORDER BY a.admitted_at DESC, a.id DESC LIMIT 1
    ), 0) - coalesce((
        SELECT a.total FROM courier.tenant_admission a
        WHERE a.tenant = of_tenant AND a.admitted_at <= since AND a.admitted_at >= first_at
        ORDER BY a.admitted_at DESC, a.id DESC LIMIT 1
    ), (
        -- Rows that no limit looks back to are deleted, so the first one need not begin at nothing.
        SELECT a.total - a.count FROM courier.tenant_admission a
        WHERE a.tenant = of_tenant AND a.admitted_at >= first_at ORDER BY a.admitted_at, a.id LIMIT 1
    ), 0);
END
$$;

-- As before, but from the first admission on that is left.
CREATE OR REPLACE FUNCTION courier.admit_tenants(
    tenants text[], counts integer[], moment timestamptz, limit_tenants text[], limit_counts integer[], limit_ms bigint[]
) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    has_old boolean;
    would_break boolean;
BEGIN
    PERFORM courier.lock_tenants(tenants);
    WITH admitted AS (
        INSERT INTO courier.tenant_admission (tenant, admitted_at, count)
        SELECT a.tenant, moment, a.count FROM unnest(tenants, counts) AS a(tenant, count)
        RETURNING tenant, total
    )
    SELECT bool_or(
            -- As courier.tenant_usage tells it, but for the rows of this statement, which it does not see.
            a.total - coalesce((
                SELECT b.total FROM courier.tenant_admission b
                WHERE b.tenant = l.tenant AND b.admitted_at <= l.since AND b.admitted_at >= g.forgotten_at
                ORDER BY b.admitted_at DESC, b.id DESC LIMIT 1
            ), (
                SELECT b.total - b.count FROM courier.tenant_admission b
                WHERE b.tenant = l.tenant AND b.admitted_at >= g.forgotten_at ORDER BY b.admitted_at, b.id LIMIT 1
            ), 0) > l.count
        ),
        bool_or(CASE WHEN l.since = l.oldest THEN (
            SELECT b.admitted_at FROM courier.tenant_admission b
            WHERE b.tenant = l.tenant AND b.admitted_at >= g.forgotten_at ORDER BY b.admitted_at, b.id LIMIT 1
        ) <= l.oldest - interval '2 minutes' END)
    INTO would_break, has_old
    FROM admitted a
    JOIN (
        SELECT u.tenant, u.count, moment - u.ms * interval '1 millisecond' AS since,
            moment - max(u.ms) OVER (PARTITION BY u.tenant) * interval '1 millisecond' AS oldest
        FROM unnest(limit_tenants, limit_counts, limit_ms) AS u(tenant, count, ms)
    ) AS l ON l.tenant = a.tenant
    JOIN courier.tenant_gate g ON g.tenant = a.tenant;
    IF would_break THEN
        RAISE EXCEPTION 'a tenant limit would break' USING ERRCODE = 'CC001';
    END IF;
    IF has_old THEN
        WITH gone AS (
            DELETE FROM courier.tenant_admission a
            WHERE a.ctid = ANY (ARRAY(
                SELECT o.ctid
                FROM (
                    SELECT u.tenant, max(u.ms) AS ms FROM unnest(limit_tenants, limit_ms) AS u(tenant, ms)
                    WHERE u.tenant = ANY (tenants) GROUP BY u.tenant
                ) AS l
                JOIN courier.tenant_gate g ON g.tenant = l.tenant
                -- A few for each row that comes; a limit has them looked up in the order of the index.
                CROSS JOIN LATERAL (
                    SELECT o.ctid FROM courier.tenant_admission o
                    WHERE o.tenant = l.tenant AND o.admitted_at >= g.forgotten_at
                      AND o.admitted_at <= moment - (l.ms + 60000) * interval '1 millisecond'
                    ORDER BY o.admitted_at, o.id LIMIT 100
                ) AS o
            ))
            RETURNING a.tenant, a.admitted_at
        )
        UPDATE courier.tenant_gate g SET forgotten_at = o.newest
        FROM (SELECT gone.tenant, max(gone.admitted_at) AS newest FROM gone GROUP BY gone.tenant) AS o
        WHERE g.tenant = o.tenant;
    END IF;
END
$$;
