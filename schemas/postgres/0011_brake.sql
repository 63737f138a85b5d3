-- SPDX-License-Identifier: Apache-2.0
-- The toll-fraud brake: blocks, operators' orders, and the approvals that are usual. Every statement may be run again.
--
-- No request writes to these tables, and no key here or in courier.verification shows a number or an address: each is
-- 64 bits of a keyed hash, but for a region's, which is its name.

-- The worker that reads conversions, and judges, for the whole fleet: one row.
--
-- A lease, not an advisory lock: a lock would need a session of its own in each worker, and the session of a frozen
-- process keeps it. What a reader writes names it, so that one whose lease was taken writes nothing.
CREATE TABLE IF NOT EXISTS courier.conversion_reader (
    is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
    reader uuid,
    lease_until timestamptz NOT NULL DEFAULT '-infinity',
    counted_to timestamptz NOT NULL DEFAULT '-infinity' -- verifications of before are in courier.conversion
) WITH (fillfactor = 10);

INSERT INTO courier.conversion_reader DEFAULT VALUES ON CONFLICT DO NOTHING;

-- The scopes that are blocked or half open, and those that were.
CREATE TABLE IF NOT EXISTS courier.brake_block (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL CHECK (scope IN ('ip', 'prefix', 'range', 'region')),
    key bigint NOT NULL,
    region text NOT NULL,
    state text NOT NULL CHECK (state IN ('blocked', 'half_open', 'ended')),
    asleep boolean NOT NULL,           -- the tenant approves too little for a verdict: the block only records
    began_at timestamptz NOT NULL,     -- of the last trip
    changes_at timestamptz NOT NULL,   -- end of the block, or since when it is half open or ended
    length_ms bigint NOT NULL,
    trips integer NOT NULL,
    expected double precision NOT NULL,
    observed double precision NOT NULL,
    probes_sent integer NOT NULL,
    probes_approved integer NOT NULL,
    refused bigint NOT NULL DEFAULT 0,
    refused_at timestamptz,            -- of the last refused request
    PRIMARY KEY (tenant, scope, key)
);

CREATE INDEX IF NOT EXISTS brake_block_changes ON courier.brake_block (changes_at);
CREATE INDEX IF NOT EXISTS brake_block_open ON courier.brake_block (changes_at) WHERE state <> 'ended';

-- Operators' orders.
CREATE TABLE IF NOT EXISTS courier.brake_override (
    tenant text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL CHECK (scope IN ('phone', 'ip', 'prefix', 'range', 'region')),
    key bigint NOT NULL,
    action text NOT NULL CHECK (action IN ('allow', 'block', 'launch')),
    until timestamptz NOT NULL,
    maximum bigint,                    -- requests that a launch expects
    reason text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    created_by text NOT NULL DEFAULT session_user,
    PRIMARY KEY (tenant, scope, key)
);

CREATE INDEX IF NOT EXISTS brake_override_until ON courier.brake_override (until);

-- The version of both tables: a worker reads this row every two seconds, and the tables when it has changed.
CREATE TABLE IF NOT EXISTS courier.brake_change (
    id boolean PRIMARY KEY DEFAULT true CHECK (id),
    version bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);

INSERT INTO courier.brake_change DEFAULT VALUES ON CONFLICT DO NOTHING;

-- With the owner's rights: whoever may write an order need not know of the version.
CREATE OR REPLACE FUNCTION courier.raise_brake_version() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE courier.brake_change c SET version = c.version + 1;
    RETURN NULL;
END
$$;

REVOKE ALL ON FUNCTION courier.raise_brake_version() FROM PUBLIC;

-- Not for the counts of refused requests, which change no decision, nor for the removal of old blocks.
CREATE OR REPLACE TRIGGER brake_block_version
AFTER INSERT OR UPDATE OF state, asleep, changes_at ON courier.brake_block
FOR EACH STATEMENT EXECUTE FUNCTION courier.raise_brake_version();

CREATE OR REPLACE TRIGGER brake_override_version
AFTER INSERT OR UPDATE OR DELETE ON courier.brake_override
FOR EACH STATEMENT EXECUTE FUNCTION courier.raise_brake_version();

-- Verifications by the hour in which they began, ten minutes after, when those that will be approved are. Those that
-- never left or that a block explains are left out.
CREATE TABLE IF NOT EXISTS courier.conversion (
    hour timestamptz NOT NULL,
    tenant text COLLATE "C" NOT NULL,
    region text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL, -- of the newest message; '' if unknown
    confirmed boolean NOT NULL,
    verifications bigint NOT NULL,
    approved bigint NOT NULL,
    sends bigint NOT NULL,
    within_15 bigint NOT NULL,         -- approvals after at most 15 s
    within_30 bigint NOT NULL,
    within_60 bigint NOT NULL,
    within_120 bigint NOT NULL,
    within_240 bigint NOT NULL,
    within_600 bigint NOT NULL,
    PRIMARY KEY (hour, tenant, region, provider, confirmed)
);

SELECT courier.sample_less('courier.conversion_reader'), courier.sample_less('courier.brake_block'),
    courier.sample_less('courier.brake_override'), courier.sample_less('courier.brake_change'),
    courier.sample_less('courier.conversion');

GRANT SELECT, UPDATE ON courier.conversion_reader TO courier_worker;
GRANT SELECT, INSERT, UPDATE ON courier.brake_block, courier.conversion TO courier_worker;
GRANT SELECT ON courier.brake_override, courier.brake_change TO courier_worker;
GRANT SELECT ON courier.brake_block TO courier_operator;
GRANT UPDATE (state, changes_at) ON courier.brake_block TO courier_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON courier.brake_override TO courier_operator;
