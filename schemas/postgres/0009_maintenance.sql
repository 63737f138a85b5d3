-- Maintenance that comes to its end whatever it finds, and keeps nobody for long. Every statement may be run again.

-- What is to be done, and from when on: for all workers together.
CREATE TABLE IF NOT EXISTS courier.maintenance (
    task text PRIMARY KEY,             -- 'partitions', or the table whose old rows are forgotten
    due_at timestamptz NOT NULL DEFAULT '-infinity',
    next_page bigint NOT NULL DEFAULT 0
);

INSERT INTO courier.maintenance (task)
VALUES ('partitions'), ('slot'), ('limit_window'), ('request_other'), ('send_other'), ('verification_other')
ON CONFLICT DO NOTHING;

-- Whether a task is due; also when a clock that was ahead has put it off.
CREATE OR REPLACE FUNCTION courier.is_due(moment timestamptz) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT moment <= clock_timestamp() OR moment > clock_timestamp() + interval '2 hours'
$$;

-- True for one caller an hour, who then maintains the partitions: a try holds up the workers for a moment.
CREATE OR REPLACE FUNCTION courier.take_partitions() RETURNS boolean
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    WITH taken AS (
        UPDATE courier.maintenance m SET due_at = clock_timestamp() + interval '1 hour'
        WHERE m.task = 'partitions' AND courier.is_due(m.due_at)
        RETURNING 1
    )
    SELECT EXISTS (SELECT FROM taken)
$$;

-- Creates a table's partitions from yesterday to `ahead` days from now and drops those older than `retention`.
--
-- One table at a time: whoever holds rows of one and waits for the other would be waited for in turn.
-- One caller at a time; a second one returns at once. Owned by the migration's role: the worker has no DDL.
CREATE OR REPLACE FUNCTION courier.maintain_days(parent text, retention interval DEFAULT '24 hours', ahead integer DEFAULT 3)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '2s'
AS $$
DECLARE
    today date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
    -- An hour is added: what begins before midnight ends after it.
    oldest timestamptz := clock_timestamp() - retention - interval '1 hour';
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
    IF NOT pg_try_advisory_xact_lock(hashtextextended('courier.maintain_partitions', 0)) THEN
        RETURN 0;
    END IF;
    -- 1. What no dated partition takes (a worker with a wrong clock) still has a place.
    IF to_regclass(format('courier.%I', parent || '_other')) IS NULL THEN
        EXECUTE format('CREATE TABLE courier.%I PARTITION OF courier.%I DEFAULT', parent || '_other', parent);
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

-- The same of all three, for the migration and for workers from before it.
CREATE OR REPLACE FUNCTION courier.maintain_partitions(retention interval DEFAULT '24 hours', ahead integer DEFAULT 3)
RETURNS integer
LANGUAGE sql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '2s'
AS $$
    SELECT courier.maintain_days('request', retention, ahead) + courier.maintain_days('verification', retention, ahead)
        + courier.maintain_days('send', retention, ahead)
$$;

-- Forgets old rows of tables that no day ends, in a slice of each table that is due, and returns how many they were.
--
-- The workers go through a table together, slice by slice, and rest for an hour at its end: that costs one reading of it
-- and no index, which every request would pay for. Rows in use are left for the next time.
CREATE OR REPLACE FUNCTION courier.forget_slices(retention interval DEFAULT '24 hours', pages integer DEFAULT 1024)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    oldest timestamptz := clock_timestamp() - retention - interval '1 hour';
    oldest_id uuid := courier.uuid_floor(oldest);
    -- Work that is not over by then is given up, as with the partitions.
    last_id uuid := courier.uuid_floor(oldest - interval '7 days');
    part courier.maintenance;
    is_old text;
    behind bigint;
    is_end boolean;
    found_rows bigint;
    forgotten bigint := 0;
BEGIN
    FOR part IN
        SELECT m.* FROM courier.maintenance m
        WHERE m.task <> 'partitions' AND courier.is_due(m.due_at)
        ORDER BY m.task FOR UPDATE SKIP LOCKED
    LOOP
        behind := part.next_page + pages;
        is_old := CASE part.task
            -- Slots that point to a dropped verification.
            WHEN 'slot' THEN format('o.verification_id < %L', courier.uuid_floor(oldest - interval '25 hours'))
            -- Windows that no limit looks back to.
            WHEN 'limit_window' THEN format('o.expires_at < %L', clock_timestamp())
            WHEN 'request_other' THEN format('o.day < %L', (oldest AT TIME ZONE 'UTC')::date)
            WHEN 'send_other' THEN
                format('o.id < %L AND (o.lease_until IS NULL OR o.id < %L)', oldest_id, last_id)
            WHEN 'verification_other' THEN
                format('o.id < %L AND (o.ended_at IS NOT NULL OR o.id < %L)', oldest_id, last_id)
        END;
        EXECUTE format(
            'DELETE FROM courier.%1$I t WHERE t.ctid = ANY (ARRAY('
            '    SELECT o.ctid FROM courier.%1$I o WHERE o.ctid >= %2$L::tid AND o.ctid < %3$L::tid AND %4$s'
            '    FOR UPDATE SKIP LOCKED'
            '))',
            part.task, format('(%s,0)', part.next_page), format('(%s,0)', behind), is_old
        );
        GET DIAGNOSTICS found_rows = ROW_COUNT;
        forgotten := forgotten + found_rows;
        is_end := behind * current_setting('block_size')::bigint >= pg_relation_size(format('courier.%I', part.task));
        UPDATE courier.maintenance m
        SET next_page = CASE WHEN is_end THEN 0 ELSE behind END,
            due_at = CASE WHEN is_end THEN clock_timestamp() + interval '1 hour' ELSE '-infinity' END
        WHERE m.task = part.task;
    END LOOP;
    RETURN forgotten;
END
$$;

REVOKE ALL ON FUNCTION courier.is_due(timestamptz) FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.take_partitions() FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.maintain_days(text, interval, integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.forget_slices(interval, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.take_partitions() TO courier_worker;
GRANT EXECUTE ON FUNCTION courier.maintain_days(text, interval, integer) TO courier_worker;
GRANT EXECUTE ON FUNCTION courier.forget_slices(interval, integer) TO courier_worker;
