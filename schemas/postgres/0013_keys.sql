-- SPDX-License-Identifier: Apache-2.0
-- The keys that live rows need. Every statement may be run again.

-- One row for each key that rows need: their number, and the time from which on none of them needs it. A verification
-- needs its keys until it ends, a receipt that waits for its send until it is looked at again and sealed anew. No row
-- names its fingerprint key.
--
-- It reads what has not ended, by the sweeper's index, and the waiting receipts.
CREATE OR REPLACE FUNCTION courier.key_use()
RETURNS TABLE (ring text, id smallint, needed_by bigint, needed_until timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    WITH live AS (
        SELECT v.code_key, v.hash_key, v.seal_key, count(*) AS needed_by,
            -- The outcome of an open send may begin the validity anew; the id has the time of the first beginning.
            max(v.expires_at + CASE WHEN v.send_open
                THEN v.expires_at - to_timestamp(('x' || translate(left(v.id::text, 13), '-', ''))::bit(48)::bigint / 1000.0)
                ELSE interval '0' END) AS needed_until
        FROM courier.verification v
        WHERE v.ended_at IS NULL AND v.state = 'live' AND v.expires_at > statement_timestamp()
        GROUP BY v.code_key, v.hash_key, v.seal_key
    ),
    used AS (
        SELECT k.ring, k.id, l.needed_by, l.needed_until
        FROM live l
        CROSS JOIN LATERAL (VALUES ('code', l.code_key), ('hash', l.hash_key), ('seal', l.seal_key)) AS k(ring, id)
        UNION ALL
        SELECT 'seal', r.seal_key, count(*), greatest(max(r.due_at), statement_timestamp())
        FROM courier.receipt r
        GROUP BY r.seal_key
    )
    SELECT u.ring, u.id, sum(u.needed_by)::bigint, max(u.needed_until)
    FROM used u
    GROUP BY u.ring, u.id
    ORDER BY u.ring, u.id
$$;

REVOKE ALL ON FUNCTION courier.key_use() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.key_use() TO courier_worker, courier_operator;
