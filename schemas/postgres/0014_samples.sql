-- SPDX-License-Identifier: Apache-2.0
-- Less work for ANALYZE. Every statement may be run again.
--
-- Tables that grow fast are analysed again and again, and each time 30,000 of their rows are read and sorted by every
-- column. The ledger's plans depend on none of that: 3,000 rows tell as much as they need.

-- Has ANALYZE take a tenth of the usual sample of a table and of its partitions.
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

-- As before, but of days to come less is sampled, too: a partition takes over no such setting.
--
-- Creates a table's partitions from yesterday to `ahead` days from now and drops those older than `retention`.
--
-- One table at a time: whoever holds rows of one and waits for the other would be waited for in turn.
-- One caller at a time; a second one returns at once. Owned by the migration's role: the worker has no DDL, so the
-- arguments have bounds.
CREATE OR REPLACE FUNCTION courier.maintain_days(parent text, retention interval DEFAULT '24 hours', ahead integer DEFAULT 3)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '2s'
AS $$
DECLARE
    today date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
    oldest timestamptz := courier.oldest_kept(retention);
    key text := CASE parent WHEN 'request' THEN 'day' ELSE 'id' END;
    bounds text[];
    day date;
    old record;
    is_kept boolean;
    changed integer := 0;
BEGIN
    IF parent NOT IN ('request', 'verification', 'send') THEN
        RAISE EXCEPTION 'no table of days: %', parent USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF (ahead BETWEEN 0 AND 31) IS NOT TRUE THEN
        RAISE EXCEPTION 'days are made 0 to 31 ahead' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF NOT pg_try_advisory_xact_lock(hashtextextended('courier.maintain_partitions', 0)) THEN
        RETURN 0;
    END IF;
    -- 1. What no dated partition takes (a worker with a wrong clock) still has a place.
    IF to_regclass(format('courier.%I', parent || '_other')) IS NULL THEN
        EXECUTE format('CREATE TABLE courier.%I PARTITION OF courier.%I DEFAULT', parent || '_other', parent);
        PERFORM courier.sample_less(to_regclass(format('courier.%I', parent || '_other')));
    END IF;
    -- 2. The days to come. One of which there are strays already stays with them: its rows are forgotten one by one.
    FOR day IN SELECT generate_series(today - 1, today + ahead, '1 day')::date LOOP
        CONTINUE WHEN to_regclass(format('courier.%I', parent || to_char(day, '_YYYYMMDD'))) IS NOT NULL;
        bounds := CASE parent WHEN 'request' THEN ARRAY[day::text, (day + 1)::text]
            ELSE ARRAY[
                courier.uuid_floor(day::timestamp AT TIME ZONE 'UTC')::text,
                courier.uuid_floor((day + 1)::timestamp AT TIME ZONE 'UTC')::text
            ] END;
        EXECUTE format(
            'SELECT EXISTS (SELECT FROM courier.%I WHERE %I >= %L AND %I < %L)',
            parent || '_other', key, bounds[1], key, bounds[2]
        ) INTO is_kept;
        CONTINUE WHEN is_kept;
        EXECUTE format(
            'CREATE TABLE courier.%I PARTITION OF courier.%I FOR VALUES FROM (%L) TO (%L) WITH (fillfactor = %s)',
            parent || to_char(day, '_YYYYMMDD'), parent, bounds[1], bounds[2],
            -- A send is marked and settled soon after it was written: beside itself, if there is room.
            CASE parent WHEN 'request' THEN 100 WHEN 'verification' THEN 70 ELSE 50 END
        );
        PERFORM courier.sample_less(to_regclass(format('courier.%I', parent || to_char(day, '_YYYYMMDD'))));
        changed := changed + 1;
    END LOOP;
    -- 3. The days that are over, but for one that still has work, as after a long stop: that is done first, in a week.
    FOR old IN
        SELECT child.relname,
            (to_date(right(child.relname, 8), 'YYYYMMDD') + 1)::timestamp AT TIME ZONE 'UTC' AS over_at
        FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
        WHERE inhparent = format('courier.%I', parent)::regclass AND child.relname ~ ('^' || parent || '_\d{8}$')
    LOOP
        CONTINUE WHEN old.over_at >= oldest;
        IF old.over_at >= oldest - interval '7 days' AND parent <> 'request' THEN
            EXECUTE format(
                'SELECT EXISTS (SELECT FROM courier.%I WHERE %s)', old.relname,
                CASE parent WHEN 'send' THEN 'lease_until IS NOT NULL' ELSE 'ended_at IS NULL' END
            ) INTO is_kept;
            CONTINUE WHEN is_kept;
        END IF;
        EXECUTE format('DROP TABLE courier.%I', old.relname);
        changed := changed + 1;
    END LOOP;
    RETURN changed;
END
$$;

REVOKE ALL ON FUNCTION courier.sample_less(regclass) FROM PUBLIC;

SELECT courier.sample_less(c.oid)
FROM pg_class c
WHERE c.relnamespace = 'courier'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition;
