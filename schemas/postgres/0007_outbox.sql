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

GRANT SELECT, INSERT, UPDATE, DELETE ON courier.outbox TO courier_worker;

SELECT courier.sample_less('courier.outbox');
