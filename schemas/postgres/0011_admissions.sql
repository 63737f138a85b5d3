-- SPDX-License-Identifier: Apache-2.0
-- Admissions counted in fewer steps: each batch does it while it holds its tenants' gates. Every statement may be run
-- again.

-- As before, but old rows are forgotten only when a minute of them has come together.
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
                WHERE b.tenant = l.tenant AND b.admitted_at <= l.since ORDER BY b.admitted_at DESC, b.id DESC LIMIT 1
            ), (
                SELECT b.total - b.count FROM courier.tenant_admission b
                WHERE b.tenant = l.tenant ORDER BY b.admitted_at, b.id LIMIT 1
            ), 0) > l.count
        ),
        bool_or(CASE WHEN l.since = l.oldest THEN (
            SELECT b.admitted_at FROM courier.tenant_admission b
            WHERE b.tenant = l.tenant ORDER BY b.admitted_at, b.id LIMIT 1
        ) <= l.oldest - interval '2 minutes' END)
    INTO would_break, has_old
    FROM admitted a
    JOIN (
        SELECT u.tenant, u.count, moment - u.ms * interval '1 millisecond' AS since,
            moment - max(u.ms) OVER (PARTITION BY u.tenant) * interval '1 millisecond' AS oldest
        FROM unnest(limit_tenants, limit_counts, limit_ms) AS u(tenant, count, ms)
    ) AS l ON l.tenant = a.tenant;
    IF would_break THEN
        RAISE EXCEPTION 'a tenant limit would break' USING ERRCODE = 'CC001';
    END IF;
    IF has_old THEN
        DELETE FROM courier.tenant_admission a
        WHERE a.ctid = ANY (ARRAY(
            SELECT o.ctid
            FROM (
                SELECT u.tenant, max(u.ms) AS ms FROM unnest(limit_tenants, limit_ms) AS u(tenant, ms)
                WHERE u.tenant = ANY (tenants) GROUP BY u.tenant
            ) AS l
            -- A few for each row that comes; a limit has them looked up in the order of the index.
            CROSS JOIN LATERAL (
                SELECT o.ctid FROM courier.tenant_admission o
                WHERE o.tenant = l.tenant AND o.admitted_at <= moment - (l.ms + 60000) * interval '1 millisecond'
                ORDER BY o.admitted_at, o.id LIMIT 100
            ) AS o
        ));
    END IF;
END
$$;
