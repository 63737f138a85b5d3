-- SPDX-License-Identifier: Apache-2.0
-- Persons and limits: the slots of each recipient, and the admissions of each recipient, IP address and tenant. Every
-- statement may be run again.

-- The key of a person (scope recipient) or a window: the first 10 bytes of the fingerprint, and 6 of SHA-256 over scope and
-- tenant, each behind its length as 4 bytes. Fingerprints are keyed and have 32 bytes.
CREATE OR REPLACE FUNCTION courier.limit_key(scope text, tenant text, fingerprint bytea) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT encode(substring(fingerprint FOR 10) || substring(sha256(
        int4send(octet_length(scope)) || convert_to(scope, 'UTF8')
            || int4send(octet_length(tenant)) || convert_to(tenant, 'UTF8')
    ) FOR 6), 'hex')::uuid
$$;

REVOKE ALL ON FUNCTION courier.limit_key(text, text, bytea) FROM PUBLIC;

-- One recipient of a tenant; the row is the lock for all decisions about it.
CREATE TABLE IF NOT EXISTS courier.person (
    key uuid PRIMARY KEY,              -- courier.limit_key
    kept_until timestamptz NOT NULL,   -- nothing of it is looked up after that time
    -- The newest verification of each purpose, 17 bytes each: the purpose's number and the verification's id. Numbers: 1
    -- sign_up, 2 sign_in, 3 mfa_enrollment, 4 mfa_sign_in, 5 reauthentication, 6 account_link, 7 app_verification.
    slots bytea NOT NULL,
    entries bytea NOT NULL             -- the admissions, as in limit_window
) WITH (fillfactor = 85);

-- The admissions of one IP address, as far back as its limits look.
CREATE TABLE IF NOT EXISTS courier.limit_window (
    key uuid PRIMARY KEY,              -- courier.limit_key
    expires_at timestamptz NOT NULL,   -- no limit looks back to it any more
    entries bytea NOT NULL             -- 12 bytes each: microseconds since 1970 and a count, big-endian
) WITH (fillfactor = 80);

-- The admissions of a tenant, one row a batch. A window's admissions are the difference of two totals, however many rows
-- lie between them.
CREATE TABLE IF NOT EXISTS courier.tenant_admission (
    tenant text NOT NULL,
    admitted_at timestamptz NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    total bigint,                      -- all admissions of the tenant up to this row, with it
    count integer NOT NULL,
    PRIMARY KEY (tenant, admitted_at, id)
);

-- The lock under which a tenant's admissions are counted and written.
--
-- Reads begin at forgotten_at. The index entries of deleted rows stay while an older snapshot is open, and each batch would
-- scan them while it holds the gate.
CREATE TABLE IF NOT EXISTS courier.tenant_gate (
    tenant text PRIMARY KEY,
    forgotten_at timestamptz NOT NULL DEFAULT '-infinity' -- no admission is left from before this moment
);

GRANT SELECT, INSERT, UPDATE ON courier.person TO courier_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON courier.limit_window, courier.tenant_admission, courier.tenant_gate
    TO courier_worker;

SELECT courier.sample_less('courier.person'), courier.sample_less('courier.limit_window'),
    courier.sample_less('courier.tenant_admission'),
    courier.sample_less('courier.tenant_gate');

-- Sets the total of a new admission.
--
-- The same transaction locks the tenant's gate. Two workers may lock it in another order than they read the time, so the
-- time of an admission is at least that of the one before it.
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
        -- The clock was set back: no admission is later than now, and new ones may be earlier than forgotten_at.
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

CREATE OR REPLACE TRIGGER count_admission_on BEFORE INSERT ON courier.tenant_admission
FOR EACH ROW EXECUTE FUNCTION courier.count_admission_on();

-- The admissions of a tenant after a moment, in one row. The function has no settings of its own, so that PostgreSQL can
-- inline it.
CREATE OR REPLACE FUNCTION courier.tenant_usage(of_tenant text, since timestamptz) RETURNS TABLE (count bigint)
LANGUAGE sql STABLE
AS $$
    SELECT coalesce((
        SELECT a.total FROM courier.tenant_admission a
        WHERE a.tenant = of_tenant AND a.admitted_at >= coalesce(g.forgotten_at, '-infinity')
        ORDER BY a.admitted_at DESC, a.id DESC LIMIT 1
    ), 0) - coalesce((
        SELECT a.total FROM courier.tenant_admission a
        WHERE a.tenant = of_tenant AND a.admitted_at >= coalesce(g.forgotten_at, '-infinity')
          AND a.admitted_at <= since
        ORDER BY a.admitted_at DESC, a.id DESC LIMIT 1
    ), (
        -- Rows beyond every limit are deleted, so the first row's total need not be 0.
        SELECT a.total - a.count FROM courier.tenant_admission a
        WHERE a.tenant = of_tenant AND a.admitted_at >= coalesce(g.forgotten_at, '-infinity')
        ORDER BY a.admitted_at, a.id LIMIT 1
    ), 0)
    FROM (SELECT) AS one LEFT JOIN courier.tenant_gate g ON g.tenant = of_tenant
$$;

-- Locks the gates of tenants; the caller then reads their admissions and decides alone.
--
-- One after the other: a statement that inserted all new gates first would hold them while it waits for a lock.
CREATE OR REPLACE FUNCTION courier.lock_tenants(tenants text[]) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    gate text;
BEGIN
    FOR gate IN SELECT unnest(tenants) ORDER BY 1 LOOP
        INSERT INTO courier.tenant_gate (tenant) VALUES (gate) ON CONFLICT DO NOTHING;
        PERFORM FROM courier.tenant_gate g WHERE g.tenant = gate FOR UPDATE;
    END LOOP;
END
$$;

-- Writes a batch's admissions, unless a limit breaks: then it raises CC001 and the batch is decided again under the
-- gate.
--
-- It is the last statement before COMMIT, so workers wait for each other's COMMIT only, not for their batches. Old rows
-- are deleted when a minute of them has come together.
CREATE OR REPLACE FUNCTION courier.admit_tenants(
    tenants text[], counts integer[], moment timestamptz, limit_tenants text[], limit_counts integer[], limit_ms bigint[]
) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    admitted record;
    forgotten timestamptz;
    latest record;
    earliest record;
    limits record;
BEGIN
    FOR admitted IN SELECT unnest(tenants) AS tenant, unnest(counts) AS count ORDER BY 1 LOOP
        -- 1. The gate: missing only at a tenant's first admission.
        SELECT g.forgotten_at INTO forgotten FROM courier.tenant_gate g WHERE g.tenant = admitted.tenant FOR UPDATE;
        IF NOT FOUND THEN
            PERFORM courier.lock_tenants(ARRAY[admitted.tenant]);
            forgotten := '-infinity';
        END IF;

        -- 2. The admission, and the tenant's earliest one.
        INSERT INTO courier.tenant_admission (tenant, admitted_at, count)
        VALUES (admitted.tenant, moment, admitted.count) RETURNING total, admitted_at INTO latest;
        -- Only where the clock was set back.
        IF latest.admitted_at < forgotten THEN forgotten := '-infinity'; END IF;
        SELECT a.admitted_at, a.total - a.count AS total INTO earliest FROM courier.tenant_admission a
        WHERE a.tenant = admitted.tenant AND a.admitted_at >= forgotten ORDER BY a.admitted_at, a.id LIMIT 1;

        -- 3. The limits: the admissions within each one, as the difference of two totals.
        SELECT bool_or(latest.total - coalesce((
                SELECT a.total FROM courier.tenant_admission a
                WHERE a.tenant = admitted.tenant AND a.admitted_at >= forgotten
                  AND a.admitted_at <= moment - l.ms * interval '1 millisecond'
                ORDER BY a.admitted_at DESC, a.id DESC LIMIT 1
            ), earliest.total) > l.count) AS break, max(l.ms) * interval '1 millisecond' AS longest
        INTO limits
        FROM (
            SELECT unnest(limit_tenants) AS tenant, unnest(limit_counts) AS count, unnest(limit_ms) AS ms
        ) AS l
        WHERE l.tenant = admitted.tenant;
        IF limits.break THEN
            RAISE EXCEPTION 'a tenant limit would break' USING ERRCODE = 'CC001';
        END IF;

        -- 4. Old rows, no more than 100 at a time; LIMIT makes the plan read them in the order of the index.
        IF earliest.admitted_at <= moment - limits.longest - interval '2 minutes' THEN
            WITH gone AS (
                DELETE FROM courier.tenant_admission a
                WHERE a.ctid = ANY (ARRAY(
                    SELECT o.ctid FROM courier.tenant_admission o
                    WHERE o.tenant = admitted.tenant AND o.admitted_at >= forgotten
                      AND o.admitted_at <= moment - limits.longest - interval '1 minute'
                    ORDER BY o.admitted_at, o.id LIMIT 100
                ))
                RETURNING a.admitted_at
            )
            UPDATE courier.tenant_gate g SET forgotten_at = o.newest
            FROM (SELECT max(gone.admitted_at) AS newest FROM gone) AS o
            WHERE g.tenant = admitted.tenant AND o.newest IS NOT NULL;
        END IF;
    END LOOP;
END
$$;

-- The keys that another transaction has inserted into a table and not committed. Such a row is invisible, and an INSERT of
-- the same key waits for that transaction's end.
--
-- The function inserts the keys, and splits a part that meets a lock into eight, down to single keys. Each wait ends after a
-- millisecond, and every insert is rolled back.
CREATE OR REPLACE FUNCTION courier.uncommitted_keys(target text, keys uuid[]) RETURNS SETOF uuid
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1ms'
AS $$
DECLARE
    parts CONSTANT integer := 8;
    sorted CONSTANT uuid[] := ARRAY(SELECT DISTINCT u FROM unnest(keys) AS u ORDER BY u);
    tried CONSTANT text := CASE target
        WHEN 'person' THEN
            'INSERT INTO courier.person (key, kept_until, slots, entries) '
            'SELECT u, ''-infinity'', '''', '''' FROM unnest($1) AS u ON CONFLICT DO NOTHING'
        WHEN 'limit_window' THEN
            'INSERT INTO courier.limit_window (key, expires_at, entries) '
            'SELECT u, ''-infinity'', '''' FROM unnest($1) AS u ON CONFLICT DO NOTHING'
        WHEN 'request' THEN
            'INSERT INTO courier.request (day, key, digest, record_offset, record_partition, record_topic) '
            'SELECT DISTINCT (m AT TIME ZONE ''UTC'')::date, u, u, 0, 0, 0 FROM unnest($1) AS u, '
            'unnest(ARRAY[statement_timestamp() - interval ''1 minute'', statement_timestamp()]) AS m '
            'ORDER BY 2 ON CONFLICT DO NOTHING'
        WHEN 'receipt' THEN
            'INSERT INTO courier.receipt (id, provider, status, sealed, seal_key, received_at, tries, due_at) '
            'SELECT u, '''', ''sent'', '''', 0, ''infinity'', 0, ''infinity'' FROM unnest($1) AS u ON CONFLICT DO NOTHING'
        END;
    -- The parts to try next, as positions in the sorted keys.
    firsts integer[] := ARRAY[1];
    lasts integer[] := ARRAY[cardinality(sorted)];
    first integer;
    last integer;
    step integer;
    found uuid[] := '{}';
BEGIN
    IF tried IS NULL THEN
        RAISE EXCEPTION 'no table of keys: %', target USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF cardinality(sorted) = 0 THEN
        RETURN;
    END IF;
    BEGIN
        WHILE cardinality(firsts) > 0 LOOP
            first := firsts[cardinality(firsts)];
            last := lasts[cardinality(lasts)];
            firsts := trim_array(firsts, 1);
            lasts := trim_array(lasts, 1);
            BEGIN
                EXECUTE tried USING sorted[first:last];
            EXCEPTION WHEN lock_not_available THEN
                IF first = last THEN
                    found := found || sorted[first];
                ELSE
                    step := (last - first + parts) / parts;
                    FOR part IN 0..(last - first) / step LOOP
                        firsts := firsts || first + part * step;
                        lasts := lasts || least(first + part * step + step - 1, last);
                    END LOOP;
                END IF;
            END;
        END LOOP;
        RAISE EXCEPTION 'nothing stays' USING ERRCODE = 'CC002';
    EXCEPTION WHEN SQLSTATE 'CC002' THEN
        NULL;
    END;
    RETURN QUERY SELECT unnest(found);
END
$$;

REVOKE ALL ON FUNCTION courier.count_admission_on() FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.tenant_usage(text, timestamptz) FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.lock_tenants(text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.admit_tenants(text[], integer[], timestamptz, text[], integer[], bigint[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.uncommitted_keys(text, uuid[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.uncommitted_keys(text, uuid[]) TO courier_worker;
GRANT EXECUTE ON FUNCTION courier.tenant_usage(text, timestamptz) TO courier_worker;
GRANT EXECUTE ON FUNCTION courier.lock_tenants(text[]) TO courier_worker;
GRANT EXECUTE ON FUNCTION courier.admit_tenants(text[], integer[], timestamptz, text[], integer[], bigint[])
    TO courier_worker;
