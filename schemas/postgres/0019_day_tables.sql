-- SPDX-License-Identifier: Apache-2.0
-- Maintenance that no reader undoes and no other login stops. Every statement may be run again.

-- Which tables have days, and since when all of a table's are as they should be: none to be made, none to be dropped.
-- Whoever maintains a table locks its row, which nobody but the owner's functions can reach.
CREATE TABLE IF NOT EXISTS courier.day_table (
    parent text PRIMARY KEY,
    whole_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

INSERT INTO courier.day_table (parent) VALUES ('request'), ('verification'), ('send') ON CONFLICT DO NOTHING;

SELECT courier.sample_less('courier.day_table');

-- True for one caller an hour, who then maintains the partitions; a row that is locked is somebody else's.
CREATE OR REPLACE FUNCTION courier.take_partitions() RETURNS boolean
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    WITH taken AS (
        UPDATE courier.maintenance m SET due_at = clock_timestamp() + interval '1 hour'
        WHERE m.task = ANY (ARRAY(
            SELECT d.task FROM courier.maintenance d
            WHERE d.task = 'partitions' AND courier.is_due(d.due_at)
            FOR UPDATE SKIP LOCKED
        ))
        RETURNING 1
    )
    SELECT EXISTS (SELECT FROM taken)
$$;

-- How long ago all days were as they should be: an hour at most where all is well.
CREATE OR REPLACE FUNCTION courier.maintenance_age() RETURNS interval
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT clock_timestamp() - min(t.whole_at) FROM courier.day_table t
$$;

-- Makes one partition beside its table and attaches it, which does not wait for readers of other partitions.
CREATE OR REPLACE FUNCTION courier.make_partition(parent text, suffix text, bounds text, fillfactor integer) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    EXECUTE format(
        'CREATE TABLE courier.%I (LIKE courier.%I INCLUDING ALL) WITH (fillfactor = %s)',
        parent || suffix, parent, fillfactor
    );
    EXECUTE format('ALTER TABLE courier.%I ATTACH PARTITION courier.%I %s', parent, parent || suffix, bounds);
    PERFORM courier.sample_less(to_regclass(format('courier.%I', parent || suffix)));
END
$$;

-- As before, but whatever is locked by somebody is left for the next time, in five minutes, and stops nothing else; and
-- no lock is waited for longer than half a second, since all workers stand behind it meanwhile.
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
SET lock_timeout = '500ms'
AS $$
DECLARE
    today date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
    oldest timestamptz := courier.oldest_kept(retention);
    key text := CASE parent WHEN 'request' THEN 'day' ELSE 'id' END;
    -- A send is marked and settled soon after it was written: beside itself, if there is room.
    room integer := CASE parent WHEN 'request' THEN 100 WHEN 'verification' THEN 70 ELSE 50 END;
    bounds text[];
    day date;
    old record;
    is_kept boolean;
    is_ours boolean;
    is_whole boolean := true;
    made integer := 0;
    changed integer := 0;
BEGIN
    IF parent NOT IN ('request', 'verification', 'send') THEN
        RAISE EXCEPTION 'no table of days: %', parent USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF (ahead BETWEEN 0 AND 31) IS NOT TRUE THEN
        RAISE EXCEPTION 'days are made 0 to 31 ahead' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM FROM courier.day_table t WHERE t.parent = maintain_days.parent FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    -- 1. What no dated partition takes (a worker with a wrong clock) still has a place.
    IF to_regclass(format('courier.%I', parent || '_other')) IS NULL THEN
        PERFORM courier.make_partition(parent, '_other', 'DEFAULT', 100);
    END IF;
    -- 2. The days that are over, but for one that still has work, as after a long stop: that is done first, in a week.
    FOR old IN
        SELECT child.relname,
            (to_date(right(child.relname, 8), 'YYYYMMDD') + 1)::timestamp AT TIME ZONE 'UTC' AS over_at
        FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
        WHERE inhparent = format('courier.%I', parent)::regclass AND child.relname ~ ('^' || parent || '_\d{8}$')
        ORDER BY child.relname
    LOOP
        CONTINUE WHEN old.over_at >= oldest;
        is_ours := false;
        BEGIN
            IF old.over_at >= oldest - interval '7 days' AND parent <> 'request' THEN
                EXECUTE format(
                    'SELECT EXISTS (SELECT FROM courier.%I WHERE %s)', old.relname,
                    CASE parent WHEN 'send' THEN 'lease_until IS NOT NULL' ELSE 'ended_at IS NULL' END
                ) INTO is_kept;
                CONTINUE WHEN is_kept;
            END IF;
            -- The table first: then only readers of its parts can be in the way, who are not waited for while all
            -- workers stand behind the table's lock. The strays' place is looked at when a day goes.
            EXECUTE format('LOCK TABLE ONLY courier.%I IN ACCESS EXCLUSIVE MODE', parent);
            EXECUTE format('LOCK TABLE ONLY courier.%I IN ACCESS EXCLUSIVE MODE NOWAIT', parent || '_other');
            is_ours := true;
            EXECUTE format('LOCK TABLE ONLY courier.%I IN ACCESS EXCLUSIVE MODE NOWAIT', old.relname);
            EXECUTE format('DROP TABLE courier.%I', old.relname);
            changed := changed + 1;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            is_whole := false;
            -- Such a reader is in the way of every day.
            EXIT WHEN NOT is_ours;
        END;
    END LOOP;
    -- 3. The days to come. One of which there are strays already stays with them: its rows are forgotten one by one.
    BEGIN
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
            PERFORM courier.make_partition(
                parent, to_char(day, '_YYYYMMDD'), format('FOR VALUES FROM (%L) TO (%L)', bounds[1], bounds[2]), room
            );
            made := made + 1;
        END LOOP;
        changed := changed + made;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
        -- Every day needs the same lock: that of the strays.
        is_whole := false;
    END;
    IF is_whole THEN
        UPDATE courier.day_table t SET whole_at = clock_timestamp() WHERE t.parent = maintain_days.parent;
    ELSE
        UPDATE courier.maintenance m SET due_at = least(m.due_at, clock_timestamp() + interval '5 minutes')
        WHERE m.task = ANY (ARRAY(
            SELECT d.task FROM courier.maintenance d WHERE d.task = 'partitions' FOR UPDATE SKIP LOCKED
        ));
    END IF;
    RETURN changed;
END
$$;

ALTER FUNCTION courier.maintain_partitions(interval, integer) SET lock_timeout = '500ms';

REVOKE ALL ON FUNCTION courier.maintenance_age() FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.make_partition(text, text, text, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.maintenance_age() TO courier_worker;
