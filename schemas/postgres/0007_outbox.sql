-- SPDX-License-Identifier: Apache-2.0
-- The outbox: events and dead letters for Kafka. Every statement may be run again.

-- Records to publish, written with the change that they report and deleted once the broker has them. Its rows come and
-- go, so it is vacuumed after 20,000 dead ones, whatever its size.
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

DO $$
BEGIN
    IF to_regtype('courier.packed_record') IS NULL THEN
        CREATE TYPE courier.packed_record AS (stream uuid, sequence integer, key bytea, value bytea, headers bytea);
    END IF;
END
$$;

-- The events of one transaction, each the first unpublished one of its stream. Nearly all events are, and one row costs less
-- than hundreds. A worker that cannot publish all of them soon replaces the pack by the rest as rows of the outbox.
CREATE TABLE IF NOT EXISTS courier.outbox_pack (
    id bigint NOT NULL,                -- random
    lease_until timestamptz NOT NULL,
    size integer NOT NULL,             -- how many records
    records courier.packed_record[] NOT NULL, -- as one value: they say the same ids again and again
    PRIMARY KEY (id)
) WITH (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100,
    toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 2000
);

CREATE INDEX IF NOT EXISTS outbox_pack_lease ON courier.outbox_pack (lease_until);

-- Faster than the usual compression, where the server was built with it.
DO $$
BEGIN
    IF 'lz4' = ANY ((SELECT enumvals FROM pg_catalog.pg_settings WHERE name = 'default_toast_compression')::text[]) THEN
        ALTER TABLE courier.outbox_pack ALTER records SET COMPRESSION lz4;
    END IF;
END
$$;

-- Every record that waits to be published.
CREATE OR REPLACE VIEW courier.unpublished WITH (security_barrier) AS
    SELECT o.stream, o.sequence, o.dead_letter, o.key, o.value, o.headers, o.lease_until FROM courier.outbox o
    UNION ALL
    SELECT r.stream, r.sequence, false, r.key, r.value, r.headers, p.lease_until
    FROM courier.outbox_pack p, unnest(p.records) AS r;

GRANT SELECT, INSERT, UPDATE, DELETE ON courier.outbox, courier.outbox_pack TO courier_worker;

SELECT courier.sample_less('courier.outbox'), courier.sample_less('courier.outbox_pack');
