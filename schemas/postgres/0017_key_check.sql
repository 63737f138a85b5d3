-- SPDX-License-Identifier: Apache-2.0
-- Which keys a fleet uses, so that no worker joins it with others. Every statement may be run again.

-- One row for each key that a worker was started with: HMAC-SHA-256 of a constant under the key, which tells whether two
-- keys are the same and nothing about either. The first worker that has a key writes its row, and nobody changes it.
CREATE TABLE IF NOT EXISTS courier.key_check (
    ring text COLLATE "C" NOT NULL,    -- 'code', 'hash', 'fingerprint' or 'seal'
    id smallint NOT NULL,
    mac bytea NOT NULL,
    PRIMARY KEY (ring, id)
);

SELECT courier.sample_less('courier.key_check');

-- Those of the keys that are not the fleet's: an operator may not read the table.
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

GRANT SELECT, INSERT ON courier.key_check TO courier_worker;
REVOKE ALL ON FUNCTION courier.other_keys(text[], smallint[], bytea[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.other_keys(text[], smallint[], bytea[]) TO courier_operator;
