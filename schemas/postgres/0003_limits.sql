-- Limits: what each recipient, IP address and tenant was let through. Every statement may be run again.
--
-- Lock order: slot, limit_window, request, send, verification, tenant_gate, outbox.

-- The admissions of one recipient or IP address, as far back as its limits look.
CREATE TABLE IF NOT EXISTS courier.limit_window (
    scope text COLLATE "C" NOT NULL CHECK (scope IN ('recipient', 'ip')),
    tenant text COLLATE "C" NOT NULL,
    fingerprint bytea NOT NULL,
    entries bytea NOT NULL,            -- 12 bytes each: microseconds since 1970 and a count, big-endian
    expires_at timestamptz NOT NULL,   -- no limit looks back to it any more
    PRIMARY KEY (fingerprint, scope, tenant)
) WITH (fillfactor = 80);

-- The admissions of a tenant, one row a batch.
CREATE TABLE IF NOT EXISTS courier.tenant_admission (
    tenant text NOT NULL,
    admitted_at timestamptz NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    count integer NOT NULL,
    PRIMARY KEY (tenant, admitted_at, id)
);

-- The lock under which a tenant's admissions are counted and written.
CREATE TABLE IF NOT EXISTS courier.tenant_gate (
    tenant text PRIMARY KEY
);

-- Locks the gates of tenants; the caller then reads their admissions and decides alone.
CREATE OR REPLACE FUNCTION courier.lock_tenants(tenants text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO courier.tenant_gate (tenant) SELECT unnest(tenants) ORDER BY 1 ON CONFLICT DO NOTHING;
    PERFORM FROM courier.tenant_gate g WHERE g.tenant = ANY (tenants) ORDER BY g.tenant FOR UPDATE;
END
$$;

-- Writes a batch's admissions, unless a limit breaks: then it raises CC001 and the batch is decided again behind the
-- gate. It is the last statement before COMMIT, so workers wait for each other's COMMIT only, not for their batches.
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
        WHERE (
            SELECT sum(a.count) FROM courier.tenant_admission a
            WHERE a.tenant = l.tenant AND a.admitted_at > moment - l.ms * interval '1 millisecond'
        ) > l.count
    ) THEN
        RAISE EXCEPTION 'a tenant limit would break' USING ERRCODE = 'CC001';
    END IF;
    DELETE FROM courier.tenant_admission a
    USING (
        SELECT l.tenant, max(l.ms) AS ms FROM unnest(limit_tenants, limit_ms) AS l(tenant, ms) GROUP BY l.tenant
    ) AS l
    WHERE a.tenant = l.tenant AND a.admitted_at <= moment - (l.ms + 60000) * interval '1 millisecond';
END
$$;

-- Forgets windows that no limit looks back to. Rows in use are left for the next time.
CREATE OR REPLACE FUNCTION courier.forget_limits() RETURNS bigint
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $$
    WITH gone AS (
        DELETE FROM courier.limit_window w
        WHERE w.ctid = ANY (ARRAY(
            SELECT o.ctid FROM courier.limit_window o
            WHERE o.expires_at < clock_timestamp() LIMIT 50000 FOR UPDATE SKIP LOCKED
        ))
        RETURNING 1
    )
    SELECT count(*) FROM gone
$$;

ALTER TABLE courier.verification ADD COLUMN IF NOT EXISTS fictional boolean NOT NULL DEFAULT false;

GRANT SELECT, INSERT, UPDATE, DELETE ON courier.limit_window, courier.tenant_admission, courier.tenant_gate
    TO courier_worker;
REVOKE ALL ON FUNCTION courier.lock_tenants(text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.admit_tenants(text[], integer[], timestamptz, text[], integer[], bigint[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.forget_limits() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.lock_tenants(text[]) TO courier_worker;
GRANT EXECUTE ON FUNCTION courier.admit_tenants(text[], integer[], timestamptz, text[], integer[], bigint[])
    TO courier_worker;
GRANT EXECUTE ON FUNCTION courier.forget_limits() TO courier_worker;
