-- SPDX-License-Identifier: Apache-2.0
-- Requests, verifications and their sends. Every statement may be run again.
--
-- Text in keys is compared by its bytes, as workers sort it. The column that differs most comes first in a key.
-- request, verification, send and message are partitioned by day (0008_maintenance): retention drops a partition, no row.

-- The key of a request id's row: the first 16 bytes of SHA-256 over both, each behind its length as 4 bytes. It is not
-- keyed: an id that comes again has the same key, whatever key of the workers has been rotated meanwhile.
CREATE OR REPLACE FUNCTION courier.request_key(tenant text, request_id text) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT encode(substring(sha256(
        int4send(octet_length(tenant)) || convert_to(tenant, 'UTF8')
            || int4send(octet_length(request_id)) || convert_to(request_id, 'UTF8')
    ) FOR 16), 'hex')::uuid
$$;

REVOKE ALL ON FUNCTION courier.request_key(text, text) FROM PUBLIC;

-- The request ids seen, and the answer to a request that has no verification. Columns of fixed width come first.
CREATE TABLE IF NOT EXISTS courier.request (
    key uuid NOT NULL,                 -- courier.request_key
    digest uuid NOT NULL,              -- keyed digest of the payload: the same id with another payload is a conflict
    verification_id uuid,
    record_offset bigint NOT NULL,     -- of the newest record with this id
    record_time bigint,                -- of that record, in milliseconds since 1970; NULL: it has none
    day date NOT NULL,
    record_partition integer NOT NULL,
    record_topic integer NOT NULL,     -- FNV-1a of its topic's name
    status text,                       -- with reason and rule: the decision of a request without a verification
    reason text,
    rule text,
    -- The newest record in each partition, the newest of all first, with a space between:
    -- topic/partition/offset/time/latest time up to it. NULL: the columns above say all.
    places text,
    PRIMARY KEY (key, day)
) PARTITION BY RANGE (day);

-- Columns that an outcome changes come last: an UPDATE in the same page logs what is between the first and the last byte
-- that differ.
CREATE TABLE IF NOT EXISTS courier.verification (
    id uuid NOT NULL,
    due_at timestamptz NOT NULL DEFAULT '-infinity', -- when the sweeper looks at it: at its first end, or later
    -- Keyed 64 bits of what the brake judges by (0011_brake); NULL where there is none, and once erased.
    client_key bigint,                 -- of the client's network
    prefix_key bigint,                 -- of the number without its last digits
    range_key bigint,                  -- of the number without a few more
    generation integer NOT NULL,
    seal_key smallint NOT NULL,
    code_key smallint NOT NULL,
    hash_key smallint NOT NULL,
    max_checks smallint NOT NULL,
    checks_used smallint NOT NULL DEFAULT 0,
    max_sends smallint NOT NULL,
    code_length smallint,              -- NULL for a push, of which nothing is typed
    fictional boolean NOT NULL DEFAULT false, -- the recipient is a test number
    confirmed boolean,                 -- the account had confirmed the number before; NULL without one
    request_id text NOT NULL,          -- of the request that began it
    tenant text NOT NULL,
    purpose text NOT NULL,
    channel text NOT NULL,
    subject text,
    fingerprint bytea NOT NULL,
    region text,                       -- of a phone number
    masked text NOT NULL,
    policy_version text NOT NULL,
    state text NOT NULL CHECK (state IN ('live', 'approved', 'expired', 'locked', 'cancelled')),
    sealed bytea,                      -- the recipient under AES-GCM; NULL once the verification has ended
    code_hash bytea NOT NULL,          -- of the code, of a link's token or of a push's secret
    short_hash bytea,                  -- of the code beside a link; NULL without a link
    short_until timestamptz,           -- end of the code beside a link
    resend_after timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    ended_at timestamptz,
    pack bigint,                       -- of the outbox, that its newest packed event was written in
    sequence integer NOT NULL,         -- of the newest event
    sends_used smallint NOT NULL,
    send_open boolean NOT NULL,        -- a send of this verification has no outcome yet
    status text,                       -- of the newest published event, NULL before the first
    reason text,                       -- of that status
    waiting text,                      -- requests that get the outcome of the open send, too, one a line; NULL: none
    used_providers text,               -- that have accepted a message of it, or may have; with a space between
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);

-- For the sweeper. No UPDATE by id implies the predicate, so none is planned over this index, and none but the end of a
-- verification writes to it: what lives longer than at first is looked at once more.
CREATE INDEX IF NOT EXISTS verification_unended ON courier.verification (due_at) WHERE ended_at IS NULL;

CREATE TABLE IF NOT EXISTS courier.send (
    id uuid NOT NULL,
    verification_id uuid NOT NULL,
    deadline timestamptz NOT NULL,     -- after it the message is never handed over
    generation integer NOT NULL,
    resend_window_ms integer NOT NULL,
    validity_ms integer,               -- fresh validity from the moment of this send; NULL for the same code again
    fence integer NOT NULL DEFAULT 1,  -- raised by every claim and delay; a write that names an older one changes nothing
    number smallint NOT NULL,
    repeated boolean NOT NULL DEFAULT false, -- handed over once more after an unknown outcome (resend_once)
    request_id text,                   -- NULL: that of the verification
    trace bytea,                       -- its trace's id, its parent's and the flags: 16, 8 and 1 bytes
    rendering text NOT NULL,           -- the input of the message, as JSON without a recipient; '' once it is over
    attempts smallint NOT NULL DEFAULT 0,
    segments smallint,
    state text NOT NULL
        CHECK (state IN ('pending', 'claimed', 'dispatching', 'sent', 'failed', 'unknown', 'delivered', 'undelivered')),
    provider text,
    provider_message_id text,
    encoding text,
    error_code text,
    -- Providers that a repeat after an unknown outcome (resend_once) must avoid, with a space between: those that have
    -- refused the message, and last the one that it is marked for, which may have it. Written with the mark, so that
    -- they are known after a crash of the worker during the call. NULL: nobody knows which.
    tried_providers text,
    -- Providers that have refused the message and get it no second time, with a space between. NULL: none.
    refused_by text,
    PRIMARY KEY (id)
) PARTITION BY RANGE (id);

-- The leases of sends without an outcome: of those that one worker claimed together, or of one that is due at some time.
-- A send belongs to the parcel that names it with the fence that it has.
CREATE TABLE IF NOT EXISTS courier.parcel (
    id uuid NOT NULL,
    lease_until timestamptz NOT NULL,  -- from then on it is anybody's
    sends uuid[] NOT NULL,
    fences integer[] NOT NULL,         -- one for each send
    PRIMARY KEY (id)
) WITH (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 5000
);

CREATE INDEX IF NOT EXISTS parcel_lease ON courier.parcel (lease_until);

-- For receipts: the provider's own id finds the send. In an index of courier.send it would cost each outcome an entry in
-- every other index, too.
CREATE TABLE IF NOT EXISTS courier.message (
    id uuid NOT NULL,                  -- of the send
    digest bigint NOT NULL             -- hashtextextended of its provider_message_id: several sends may have the same
) PARTITION BY RANGE (id);

CREATE INDEX IF NOT EXISTS message_digest ON courier.message (digest);

GRANT SELECT, INSERT, UPDATE ON courier.request, courier.verification, courier.send TO courier_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON courier.parcel TO courier_worker;
GRANT SELECT, INSERT ON courier.message TO courier_worker;

SELECT courier.sample_less('courier.request'), courier.sample_less('courier.verification'),
    courier.sample_less('courier.send'), courier.sample_less('courier.message'), courier.sample_less('courier.parcel');

-- How many sends are due and wait for a worker, up to 100,000: the backlog that Kafka's lag does not show.
-- It is the only right of an autoscaler.
CREATE OR REPLACE FUNCTION courier.due_sends() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT count(*) FROM (
        SELECT FROM courier.send s
        WHERE s.id = ANY (ARRAY(
            SELECT unnest(p.sends) FROM courier.parcel p WHERE p.lease_until < statement_timestamp() LIMIT 100000
        )) AND s.state IN ('pending', 'claimed', 'dispatching')
    ) AS due
$$;

REVOKE ALL ON FUNCTION courier.due_sends() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.due_sends() TO courier_monitor;
