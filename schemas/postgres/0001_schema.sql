-- SPDX-License-Identifier: Apache-2.0
-- Schema, roles, and two functions that the other files use. Every statement may be run again.
--
-- Lock order, the same in every transaction: person, limit_window, request, receipt, parcel, send, verification,
-- new rows of person, limit_window and request, tenant_gate, outbox_pack, outbox; within a table by key.
--
-- Every function of the schema names its search_path, with pg_temp last, but for one that runs with its caller's rights
-- and becomes a part of its caller's statement. Where pg_temp is not named it is searched first, also for the names of
-- types, and a caller's temporary objects would be used with the rights of the owner.

CREATE SCHEMA IF NOT EXISTS courier;

-- Roles belong to the cluster: an administrator may have created them, and the migration of another database may create
-- them at the same moment.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['courier_worker', 'courier_verifier', 'courier_monitor', 'courier_operator'] LOOP
        CONTINUE WHEN EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = wanted);
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;
        END;
    END LOOP;
END
$$;

GRANT USAGE ON SCHEMA courier TO courier_worker, courier_verifier, courier_monitor, courier_operator;

-- Lets ANALYZE take a tenth of the usual sample of a table and of its partitions.
--
-- Tables that grow fast are analysed again and again; each time 30,000 of their rows would be read and sorted by every
-- column. The ledger's plans need no more than 3,000.
CREATE OR REPLACE FUNCTION courier.sample_less(relation regclass) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    EXECUTE (
        SELECT format('ALTER TABLE %s %s', relation, string_agg(format('ALTER %I SET STATISTICS 10', a.attname), ', '))
        FROM pg_attribute a
        WHERE a.attrelid = relation AND a.attnum > 0 AND NOT a.attisdropped
    );
END
$$;

REVOKE ALL ON FUNCTION courier.sample_less(regclass) FROM PUBLIC;

-- The smallest UUIDv7 of a moment: the bound of a partition.
CREATE OR REPLACE FUNCTION courier.uuid_floor(moment timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT encode(
        substring(int8send((extract(epoch FROM moment) * 1000)::bigint) FROM 3) || '\x00000000000000000000'::bytea, 'hex'
    )::uuid
$$;

REVOKE ALL ON FUNCTION courier.uuid_floor(timestamptz) FROM PUBLIC;

-- The table of migrations is made by `code-courier migrate`. A worker checks at its start that none is missing.
GRANT SELECT ON courier.schema_migration TO courier_worker;

SELECT courier.sample_less('courier.schema_migration');
