-- What tenants were let through, counted on: the admissions of a window are the difference of two totals, however many
-- rows lie between them. Every statement may be run again.

-- All that a tenant was let through up to this row and with it.
ALTER TABLE courier.tenant_admission ADD COLUMN IF NOT EXISTS total bigint;

UPDATE courier.tenant_admission a
SET total = t.total
FROM (
    SELECT tenant, admitted_at, id, sum(count) OVER (PARTITION BY tenant ORDER BY admitted_at, id) AS total
    FROM courier.tenant_admission
) AS t
WHERE a.tenant = t.tenant AND a.admitted_at = t.admitted_at AND a.id = t.id AND a.total IS NULL;

-- Whoever inserts holds the tenant's gate. Two workers come to it in another order than they read the time, so an
-- admission is never earlier than the one before it.
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
        latest.admitted_at := NEW.admitted_at;
    END IF;
    NEW.admitted_at := greatest(NEW.admitted_at, latest.admitted_at);
    NEW.total := coalesce(latest.total, 0) + NEW.count;
    RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER count_admission_on BEFORE INSERT ON courier.tenant_admission
FOR EACH ROW EXECUTE FUNCTION courier.count_admission_on();

-- What a tenant was let through after a moment.
CREATE OR REPLACE FUNCTION courier.tenant_usage(of_tenant text, since timestamptz) RETURNS bigint
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN coalesce((
        SELECT a.total FROM courier.tenant_admission a
        WHERE a.tenant = of_tenant ORDER BY a.admitted_at DESC, a.id DESC LIMIT 1
    ), 0) - coalesce((
        SELECT a.total FROM courier.tenant_admission a
        WHERE a.tenant = of_tenant AND a.admitted_at <= since ORDER BY a.admitted_at DESC, a.id DESC LIMIT 1
    ), (
        -- Rows that no limit looks back to are deleted, so the first one need not begin at nothing.
        SELECT a.total - a.count FROM courier.tenant_admission a
        WHERE a.tenant = of_tenant ORDER BY a.admitted_at, a.id LIMIT 1
    ), 0);
END
$$;

-- As before, but for how a window is counted, and what is forgotten: no more than a batch can look up.
CREATE OR REPLACE FUNCTION courier.admit_tenants(
    tenants text[], counts integer[], moment timestamptz, limit_tenants text[], limit_counts integer[], limit_ms bigint[]
) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM courier.lock_tenants(tenants);
    INSERT INTO courier.tenant_admission (tenant, admitted_at, count)
    SELECT a.tenant, moment, a.count FROM unnest(tenants, counts) AS a(tenant, count);
    IF EXISTS (
        SELECT FROM unnest(limit_tenants, limit_counts, limit_ms) AS l(tenant, count, ms)
        WHERE courier.tenant_usage(l.tenant, moment - l.ms * interval '1 millisecond') > l.count
    ) THEN
        RAISE EXCEPTION 'a tenant limit would break' USING ERRCODE = 'CC001';
    END IF;
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
END
$$;

REVOKE ALL ON FUNCTION courier.count_admission_on() FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.tenant_usage(text, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.tenant_usage(text, timestamptz) TO courier_worker;
