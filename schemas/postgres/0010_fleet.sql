-- SPDX-License-Identifier: Apache-2.0
-- The fleet that this database belongs to. Every statement may be run again.

-- One row, written by the first worker. Ids name their cell, so ids of another cell's worker would lead to another database.
CREATE TABLE IF NOT EXISTS courier.cell (
    is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
    number smallint NOT NULL CHECK (number BETWEEN 0 AND 255)
);

-- One row for each key that a worker was started with: HMAC-SHA-256 of a constant under the key, which shows whether
-- two keys are the same and nothing about either. The first worker that has a key writes its row, and nobody changes
-- it, so that no worker joins the fleet with other keys.
CREATE TABLE IF NOT EXISTS courier.key_check (
    ring text COLLATE "C" NOT NULL,    -- 'code', 'hash', 'fingerprint' or 'seal'
    id smallint NOT NULL,
    mac bytea NOT NULL,
    PRIMARY KEY (ring, id)
);

GRANT SELECT, INSERT ON courier.cell, courier.key_check TO courier_worker;

SELECT courier.sample_less('courier.cell'), courier.sample_less('courier.key_check');

-- The keys that are not the fleet's. An operator may not read the table.
CREATE OR REPLACE FUNCTION courier.other_keys(rings text[], ids smallint[], macs bytea[])
RETURNS TABLE (ring text, id smallint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT k.ring, k.id
    FROM unnest(rings, ids, macs) AS u(ring, id, mac)
    JOIN courier.key_check k ON k.ring = u.ring AND k.id = u.id
    WHERE k.mac <> u.mac
    ORDER BY k.ring, k.id
$$;

REVOKE ALL ON FUNCTION courier.other_keys(text[], smallint[], bytea[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.other_keys(text[], smallint[], bytea[]) TO courier_operator;

-- The timeline on which the server writes, a part of event ids. It begins with 1, and each promotion of a standby
-- begins another one, which may lack the last transactions of the one before: their event numbers are then used again for
-- other events. 1 where a managed service does not show it.
CREATE OR REPLACE FUNCTION courier.timeline() RETURNS integer
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer;
EXCEPTION WHEN feature_not_supported OR insufficient_privilege OR undefined_function THEN
    RETURN 1;
END
$$;

REVOKE ALL ON FUNCTION courier.timeline() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.timeline() TO courier_worker;
