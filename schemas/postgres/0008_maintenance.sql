-- SPDX-License-Identifier: Apache-2.0
-- Maintenance: day partitions, and old rows of tables without partitions. Every statement may be run again.
--
-- The functions run with the owner's rights, since a worker may not create or drop a table. So their arguments have
-- bounds.

-- The tasks and the time at which each is due, for all workers together.
CREATE TABLE IF NOT EXISTS courier.maintenance (
    task text PRIMARY KEY,             -- 'partitions', or the table whose old rows are deleted
    due_at timestamptz NOT NULL DEFAULT '-infinity',
    next_page bigint NOT NULL DEFAULT 0
);

INSERT INTO courier.maintenance (task)
VALUES ('partitions'), ('person'), ('limit_window'), ('request_other'), ('send_other'), ('message_other'),
    ('verification_other'), ('brake_block'), ('brake_override'), ('conversion')
ON CONFLICT DO NOTHING;

-- The tables with partitions, and the last time when none of a table's partitions was missing or overdue. Maintenance locks
-- the table's row, which only the owner's functions can reach.
CREATE TABLE IF NOT EXISTS courier.day_table (
    parent text PRIMARY KEY,
    whole_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

INSERT INTO courier.day_table (parent) VALUES ('request'), ('verification'), ('send'), ('message') ON CONFLICT DO NOTHING;

SELECT courier.sample_less('courier.maintenance'), courier.sample_less('courier.day_table');

-- True when a task is due, or when a clock that was ahead has postponed it.
CREATE OR REPLACE FUNCTION courier.is_due(moment timestamptz) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT moment <= clock_timestamp() OR moment > clock_timestamp() + interval '2 hours'
$$;

-- True for one caller an hour, who then maintains the partitions. A locked row belongs to another caller.
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

-- The time since no partition was missing or overdue: at most an hour while maintenance works.
CREATE OR REPLACE FUNCTION courier.maintenance_age() RETURNS interval
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT clock_timestamp() - min(t.whole_at) FROM courier.day_table t
$$;

-- The moment from which on rows are kept. A retention that would drop rows in use is an error.
CREATE OR REPLACE FUNCTION courier.oldest_kept(retention interval) RETURNS timestamptz
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moment CONSTANT timestamptz := clock_timestamp();
    -- An hour is added: what begins before midnight ends after it.
    oldest CONSTANT timestamptz := moment - retention - interval '1 hour';
BEGIN
    -- The moments are compared, since months and days of an interval differ in length. NULL is refused, too.
    IF (oldest <= moment - interval '25 hours') IS NOT TRUE THEN
        RAISE EXCEPTION 'rows are in use for a day: give a retention of 24 hours or more'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN oldest;
END
$$;

-- Makes one partition beside its table and attaches it, which does not wait for readers of other partitions.
CREATE OR REPLACE FUNCTION courier.make_partition(parent text, suffix text, bounds text, fillfactor integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    EXECUTE format(
        'CREATE TABLE courier.%I (LIKE courier.%I INCLUDING ALL) WITH (fillfactor = %s)',
        parent || suffix, parent, fillfactor
    );
    EXECUTE format('ALTER TABLE courier.%I ATTACH PARTITION courier.%I %s', parent, parent || suffix, bounds);
    -- It is not copied: without one a publication of all tables refuses deletes.
    IF parent = 'message' THEN
        EXECUTE format('ALTER TABLE courier.%I REPLICA IDENTITY FULL', parent || suffix);
    END IF;
    PERFORM courier.sample_less(to_regclass(format('courier.%I', parent || suffix)));
END
$$;

-- Creates a table's partitions from yesterday to `ahead` days from now, drops those older than `retention`, and returns
-- their number. Of several concurrent callers one works and the others return at once.
--
-- One table at a time: a caller that locked one table and waited for another could deadlock with a worker that uses both.
-- A wait for a lock ends after half a second, since all workers queue behind it; a locked partition is retried in five
-- minutes and delays nothing else.
CREATE OR REPLACE FUNCTION courier.maintain_days(
    parent text, retention interval DEFAULT '24 hours', ahead integer DEFAULT 3
) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '500ms'
AS $$
DECLARE
    today date := (clock_timestamp() AT TIME ZONE 'UTC')::date;
    oldest timestamptz := courier.oldest_kept(retention);
    key text := CASE parent WHEN 'request' THEN 'day' ELSE 'id' END;
    -- Rows are updated soon after they were written: in the same page, if it has free space.
    room integer := CASE parent WHEN 'verification' THEN 46 WHEN 'send' THEN 40 ELSE 100 END;
    bounds text[];
    day date;
    old record;
    is_kept boolean;
    is_ours boolean;
    is_whole boolean := true;
    made integer := 0;
    changed integer := 0;
BEGIN
    IF parent NOT IN ('request', 'verification', 'send', 'message') THEN
        RAISE EXCEPTION 'no table of days: %', parent USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF (ahead BETWEEN 0 AND 31) IS NOT TRUE THEN
        RAISE EXCEPTION 'days are made 0 to 31 ahead' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM FROM courier.day_table t WHERE t.parent = maintain_days.parent FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    -- 1. The partition of strays: rows outside of all dated partitions, such as those of a worker with a wrong clock.
    IF to_regclass(format('courier.%I', parent || '_other')) IS NULL THEN
        PERFORM courier.make_partition(parent, '_other', 'DEFAULT', 100);
    END IF;
    -- 2. Drop the days that are over. A day with unfinished work, as after a long stop, is kept for a week at most.
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
            IF old.over_at >= oldest - interval '7 days' AND parent IN ('verification', 'send') THEN
                IF parent = 'send' THEN
                    is_kept := EXISTS (
                        SELECT FROM (SELECT unnest(p.sends) AS id FROM courier.parcel p) AS u
                        WHERE u.id >= courier.uuid_floor(old.over_at - interval '24 hours')
                          AND u.id < courier.uuid_floor(old.over_at)
                    );
                ELSE
                    EXECUTE format(
                        'SELECT EXISTS (SELECT FROM courier.%I WHERE ended_at IS NULL)', old.relname
                    ) INTO is_kept;
                END IF;
                CONTINUE WHEN is_kept;
            END IF;
            -- Lock the table first: then only readers of its partitions can block, and no one waits for them while all
            -- workers wait for the table's lock. DROP needs the lock of the strays, too.
            EXECUTE format('LOCK TABLE ONLY courier.%I IN ACCESS EXCLUSIVE MODE', parent);
            EXECUTE format('LOCK TABLE ONLY courier.%I IN ACCESS EXCLUSIVE MODE NOWAIT', parent || '_other');
            is_ours := true;
            EXECUTE format('LOCK TABLE ONLY courier.%I IN ACCESS EXCLUSIVE MODE NOWAIT', old.relname);
            EXECUTE format('DROP TABLE courier.%I', old.relname);
            changed := changed + 1;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            is_whole := false;
            -- A lock of the table or of the strays blocks every day.
            EXIT WHEN NOT is_ours;
        END;
    END LOOP;
    -- 3. Create the days to come, except a day whose rows are strays already: those are deleted one by one.
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
        -- Every day needs the lock of the strays.
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

-- Deletes old rows of tables without partitions, one slice of each table that is due, and returns their number.
--
-- The workers go through a table together, slice by slice, and rest for an hour at its end. That costs one reading of
-- the table and no index, which every request would pay for. Locked rows are left for the next round.
CREATE OR REPLACE FUNCTION courier.forget_slices(retention interval DEFAULT '24 hours', pages integer DEFAULT 1024)
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    oldest timestamptz := courier.oldest_kept(retention);
    oldest_id uuid := courier.uuid_floor(oldest);
    -- Work that is unfinished by then is dropped, as with the partitions.
    last_id uuid := courier.uuid_floor(oldest - interval '7 days');
    part courier.maintenance;
    is_old text;
    behind bigint;
    is_end boolean;
    found_rows bigint;
    forgotten bigint := 0;
BEGIN
    IF (pages > 0) IS NOT TRUE THEN
        RAISE EXCEPTION 'a slice has 1 page or more' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    FOR part IN
        SELECT m.* FROM courier.maintenance m
        WHERE m.task <> 'partitions' AND courier.is_due(m.due_at)
        ORDER BY m.task FOR UPDATE SKIP LOCKED
    LOOP
        behind := part.next_page + pages;
        is_old := CASE part.task
            WHEN 'person' THEN format('o.kept_until < %L', clock_timestamp())
            -- Windows that no limit looks back to any more.
            WHEN 'limit_window' THEN format('o.expires_at < %L', clock_timestamp())
            -- A month for operators; five weeks cover each hour of the week five times.
            WHEN 'brake_block' THEN
                format('o.state = ''ended'' AND o.changes_at < %L', clock_timestamp() - interval '30 days')
            WHEN 'brake_override' THEN format('o.until < %L', clock_timestamp() - interval '30 days')
            WHEN 'conversion' THEN format('o.hour < %L', clock_timestamp() - interval '35 days')
            WHEN 'request_other' THEN format('o.day < %L', (oldest AT TIME ZONE 'UTC')::date)
            WHEN 'message_other' THEN format('o.id < %L', oldest_id)
            WHEN 'send_other' THEN
                format(
                    'o.id < %L AND (o.state NOT IN (''pending'', ''claimed'', ''dispatching'') OR o.id < %L)',
                    oldest_id, last_id
                )
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
REVOKE ALL ON FUNCTION courier.maintenance_age() FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.oldest_kept(interval) FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.make_partition(text, text, text, integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.maintain_days(text, interval, integer) FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.forget_slices(interval, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.take_partitions() TO courier_worker;
GRANT EXECUTE ON FUNCTION courier.maintenance_age() TO courier_worker;
GRANT EXECUTE ON FUNCTION courier.maintain_days(text, interval, integer) TO courier_worker;
GRANT EXECUTE ON FUNCTION courier.forget_slices(interval, integer) TO courier_worker;

-- Days are created here and none is dropped, since the retention is the workers' setting.
SELECT courier.maintain_days(t.parent, '100 years') FROM unnest(ARRAY['request', 'verification', 'send', 'message']) AS t(parent);

-- A table without a primary key has its whole row as replica identity, also in existing partitions.
DO $$
DECLARE
    bare record;
BEGIN
    FOR bare IN
        SELECT c.relname FROM pg_class c
        WHERE c.relnamespace = 'courier'::regnamespace AND c.relkind IN ('r', 'p') AND c.relreplident = 'd'
          AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)
    LOOP
        EXECUTE format('ALTER TABLE courier.%I REPLICA IDENTITY FULL', bare.relname);
    END LOOP;
END
$$;
