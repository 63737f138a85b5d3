-- SPDX-License-Identifier: Apache-2.0
-- The part of event ids that tells what was written before a standby took over. Every statement may be run again.

-- The timeline on which the server writes. It begins with 1, and each promotion of a standby begins another one, which may
-- lack the last transactions of the one before: their event numbers are given again, to other events. 1 where a service
-- keeps it to itself.
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
