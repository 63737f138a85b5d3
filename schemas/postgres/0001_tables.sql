-- Tables, roles and partitions. Every statement may be run again.
--
-- Lock order, the same in every transaction: slot, request, send, verification, outbox; within a table by key.
--
-- Text in keys is compared by its bytes, as workers sort it. What tells most rows apart comes first in a key.

CREATE SCHEMA IF NOT EXISTS courier;

-- Roles belong to the cluster: somebody who may create roles may have made them, and another database's migration may be
-- creating them at this moment.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['courier_worker', 'courier_verifier', 'courier_monitor'] LOOP
        CONTINUE WHEN EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = wanted);
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;
        END;
    END LOOP;
END
$$;

-- The request ids seen, and what was answered where there is no verification to tell it.
CREATE TABLE IF NOT EXISTS courier.request (
    day date NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,             -- keyed digest of the payload: the same id with another payload is a conflict
    places text NOT NULL,              -- topic/partition@offset of the newest record with this id in each partition
    verification_id uuid,
    status text,                       -- with reason and rule: the decision of a request without a verification
    reason text,
    rule text,
    PRIMARY KEY (request_id, tenant, day)
) PARTITION BY RANGE (day);

-- The one verification that a (tenant, purpose, recipient) points to; its row is the lock for their decisions.
CREATE TABLE IF NOT EXISTS courier.slot (
    tenant text COLLATE "C" NOT NULL,
    purpose text COLLATE "C" NOT NULL,
    fingerprint bytea NOT NULL,
    verification_id uuid NOT NULL,
    PRIMARY KEY (fingerprint, tenant, purpose)
);

CREATE TABLE IF NOT EXISTS courier.verification (
    id uuid NOT NULL,
    request_id text NOT NULL,          -- of the request that began it
    tenant text NOT NULL,
    purpose text NOT NULL,
    channel text NOT NULL,
    subject text,
    fingerprint bytea NOT NULL,
    region text,                       -- of a phone number
    masked text NOT NULL,
    sealed bytea,                      -- the recipient under AES-GCM; NULL once the verification has ended
    seal_key smallint NOT NULL,
    code_key smallint NOT NULL,
    hash_key smallint NOT NULL,
    generation integer NOT NULL,
    code_hash bytea NOT NULL,          -- of the code, of a link's token or of a push's secret
    short_hash bytea,                  -- of the code beside a link, which is over at short_until; NULL without a link
    short_until timestamptz,
    used_providers text,               -- those that have taken a message of it, or may have; with a space between
    code_length smallint,              -- NULL for a push, of which nothing is typed
    state text NOT NULL CHECK (state IN ('live', 'approved', 'expired', 'locked', 'cancelled')),
    status text,                       -- of the newest published event, NULL before the first
    checks_used smallint NOT NULL DEFAULT 0,
    max_checks smallint NOT NULL,
    sends_used smallint NOT NULL,
    max_sends smallint NOT NULL,
    send_open boolean NOT NULL,        -- a send of this verification has no outcome yet
    sequence integer NOT NULL,         -- of the newest event
    resend_after timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    ended_at timestamptz,
    policy_version text NOT NULL,
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);

-- For the sweeper. The predicate is one that no UPDATE by id implies, so that none is planned over this index.
CREATE INDEX IF NOT EXISTS verification_unended ON courier.verification (expires_at) WHERE ended_at IS NULL;

CREATE TABLE IF NOT EXISTS courier.send (
    id uuid NOT NULL,
    verification_id uuid NOT NULL,
    number smallint NOT NULL,
    generation integer NOT NULL,
    request_id text NOT NULL,
    state text NOT NULL
        CHECK (state IN ('pending', 'claimed', 'dispatching', 'sent', 'failed', 'unknown', 'delivered', 'undelivered')),
    fence integer NOT NULL DEFAULT 1,  -- raised by every claim; a write that names an older one changes nothing
    lease_until timestamptz,           -- of the claim, or the due time of a retry; NULL once there is an outcome
    deadline timestamptz NOT NULL,     -- after it the message is never handed over
    attempts smallint NOT NULL DEFAULT 0,
    repeated boolean NOT NULL DEFAULT false, -- handed over once more after an unknown outcome (resend_once)
    resend_window_ms integer NOT NULL,
    validity_ms integer,               -- fresh validity from the moment of this send; NULL for the same code again
    rendering text NOT NULL,           -- what the message is made from, as JSON without a recipient; '' once it is over
    traceparent text,
    provider text,
    provider_message_id text,
    segments smallint,
    encoding text,
    error_code text,
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);

-- For the sweeper; like verification_unended it is never implied by an UPDATE by id.
CREATE INDEX IF NOT EXISTS send_leased ON courier.send (lease_until) WHERE lease_until IS NOT NULL;

-- Records to publish, written with the change that they tell and deleted once the broker has them.
CREATE TABLE IF NOT EXISTS courier.outbox (
    stream uuid NOT NULL,              -- the verification, or an id made from the record that was refused
    sequence integer NOT NULL,
    dead_letter boolean NOT NULL,
    key bytea,
    value bytea,
    headers bytea NOT NULL,
    lease_until timestamptz NOT NULL,
    PRIMARY KEY (stream, sequence)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);

CREATE INDEX IF NOT EXISTS outbox_lease ON courier.outbox (lease_until);

-- The smallest UUIDv7 of a moment: the bound of a partition.
CREATE OR REPLACE FUNCTION courier.uuid_floor(moment timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog
AS $$
    SELECT encode(
        substring(int8send((extract(epoch FROM moment) * 1000)::bigint) FROM 3) || '\x00000000000000000000'::bytea, 'hex'
    )::uuid
$$;

-- Creates the partitions from yesterday to `ahead` days from now and drops those older than `retention`.
-- One caller at a time; a second one returns at once. Owned by the migration's role: the worker has no DDL.
CREATE OR REPLACE FUNCTION courier.maintain_partitions(retention interval DEFAULT '24 hours', ahead integer DEFAULT 3)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '2s'
AS $$
DECLARE
    today date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
    parent text;
    day date;
    old record;
    changed integer := 0;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtextextended('courier.maintain_partitions', 0)) THEN
        RETURN 0;
    END IF;
    FOREACH parent IN ARRAY ARRAY['request', 'verification', 'send'] LOOP
        -- 1. What no dated partition takes (a worker with a wrong clock) still has a place.
        IF to_regclass(format('courier.%I', parent || '_other')) IS NULL THEN
            EXECUTE format('CREATE TABLE courier.%I PARTITION OF courier.%I DEFAULT', parent || '_other', parent);
        END IF;
        -- 2. The days to come.
        FOR day IN SELECT generate_series(today - 1, today + ahead, '1 day')::date LOOP
            IF to_regclass(format('courier.%I', parent || to_char(day, '_YYYYMMDD'))) IS NOT NULL THEN
                CONTINUE;
            END IF;
            EXECUTE format(
                'CREATE TABLE courier.%I PARTITION OF courier.%I FOR VALUES FROM (%L) TO (%L) WITH (fillfactor = %s)',
                parent || to_char(day, '_YYYYMMDD'), parent,
                CASE parent WHEN 'request' THEN day::text
                    ELSE courier.uuid_floor(day::timestamp AT TIME ZONE 'UTC')::text END,
                CASE parent WHEN 'request' THEN (day + 1)::text
                    ELSE courier.uuid_floor((day + 1)::timestamp AT TIME ZONE 'UTC')::text END,
                -- A send is marked and settled soon after it was written: beside itself, if there is room.
                CASE parent WHEN 'request' THEN 100 WHEN 'verification' THEN 70 ELSE 50 END
            );
            changed := changed + 1;
        END LOOP;
        -- 3. The days that are over. An hour is added: what begins before midnight ends after it.
        FOR old IN
            SELECT child.relname
            FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
            WHERE inhparent = format('courier.%I', parent)::regclass
              AND child.relname ~ ('^' || parent || '_\d{8}$')
              AND (to_date(right(child.relname, 8), 'YYYYMMDD') + 1)::timestamp AT TIME ZONE 'UTC'
                  < clock_timestamp() - retention - interval '1 hour'
        LOOP
            EXECUTE format('DROP TABLE courier.%I', old.relname);
            changed := changed + 1;
        END LOOP;
    END LOOP;
    -- 4. Slots that point to a dropped verification. Rows in use are left for the next time.
    DELETE FROM courier.slot s
    WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM courier.slot
        WHERE verification_id < courier.uuid_floor(clock_timestamp() - retention - interval '26 hours')
        LIMIT 10000 FOR UPDATE SKIP LOCKED
    ));
    RETURN changed;
END
$$;

-- How many sends are due and wait for a worker, up to 100,000: the backlog that Kafka's lag does not show.
-- An autoscaler's whole right.
CREATE OR REPLACE FUNCTION courier.due_sends() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT count(*) FROM (
        SELECT FROM courier.send WHERE lease_until < statement_timestamp() LIMIT 100000
    ) AS due
$$;

SELECT courier.maintain_partitions();

GRANT USAGE ON SCHEMA courier TO courier_worker, courier_verifier, courier_monitor;
-- A worker checks at its start that the database has the migrations it knows.
GRANT SELECT ON courier.schema_migration TO courier_worker;
GRANT SELECT, INSERT, UPDATE ON courier.request, courier.slot, courier.verification, courier.send TO courier_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON courier.outbox TO courier_worker;
REVOKE ALL ON FUNCTION courier.uuid_floor(timestamptz) FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.maintain_partitions(interval, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.maintain_partitions(interval, integer) TO courier_worker;
REVOKE ALL ON FUNCTION courier.due_sends() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.due_sends() TO courier_monitor;
