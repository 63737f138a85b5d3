-- SPDX-License-Identifier: Apache-2.0
-- An erasure that misses no database and nothing that begins meanwhile, and maintenance that drops no day in use,
-- whatever it is called with. Every statement may be run again.

-- Which of its fleet's databases this one is, counted from 0: an operator may not read the table.
CREATE OR REPLACE FUNCTION courier.shard_place(OUT number smallint, OUT count smallint)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    -- One that was never told is the only one.
    SELECT coalesce(min(s.number), 0::smallint), coalesce(min(s.count), 1::smallint) FROM courier.shard s
$$;

-- As before, but what begins while it searches is found, too.
CREATE OR REPLACE FUNCTION courier.erase_recipient(
    IN fingerprints bytea[],
    IN of_tenant text,
    OUT slots bigint,
    OUT limit_windows bigint,
    OUT receipts bigint,
    OUT sends bigint,
    OUT verifications bigint,
    OUT cancelled bigint
)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    erased CONSTANT bytea := decode(repeat('00', 32), 'hex');
    -- An id is made before its row, by a worker's clock, which may be late.
    since CONSTANT uuid := courier.uuid_floor(clock_timestamp() - interval '1 hour');
    ids uuid[];
    open_sends uuid[];
BEGIN
    -- 1. Look for them without a lock: no index knows a fingerprint, and nobody is to wait meanwhile.
    ids := ARRAY(
        SELECT v.id FROM courier.verification v
        WHERE v.fingerprint = ANY (fingerprints) AND v.fingerprint <> erased
          AND (of_tenant IS NULL OR v.tenant = of_tenant)
    );

    -- 2. Slots first, as everywhere, and in the workers' order: from here on no request of theirs is decided.
    PERFORM FROM courier.slot s
    WHERE s.fingerprint = ANY (fingerprints) AND (of_tenant IS NULL OR s.tenant = of_tenant)
    ORDER BY s.fingerprint, s.tenant, s.purpose FOR UPDATE;
    WITH gone AS (
        DELETE FROM courier.slot s
        WHERE s.fingerprint = ANY (fingerprints) AND (of_tenant IS NULL OR s.tenant = of_tenant)
        RETURNING s.verification_id
    )
    SELECT count(*), ids || coalesce(array_agg(gone.verification_id), '{}') INTO slots, ids FROM gone;

    -- 3. What has begun since the search: of verifications some may have ended, and no slot told of them any more.
    ids := ids || ARRAY(
        SELECT v.id FROM courier.verification v
        WHERE v.id >= since AND v.fingerprint = ANY (fingerprints) AND v.fingerprint <> erased
          AND (of_tenant IS NULL OR v.tenant = of_tenant)
    );
    DELETE FROM courier.limit_window w
    WHERE w.scope = 'recipient' AND w.fingerprint = ANY (fingerprints) AND (of_tenant IS NULL OR w.tenant = of_tenant);
    GET DIAGNOSTICS limit_windows = ROW_COUNT;

    -- 4. What has not left does not leave: the deadline of every send without an outcome is over, which the next sweep
    --    tells as expired_unsent. A receipt that waits for one of them may hold the number.
    open_sends := ARRAY(
        SELECT s.id FROM courier.send s
        WHERE s.lease_until IS NOT NULL AND s.verification_id = ANY (ids)
        ORDER BY s.id
    );
    DELETE FROM courier.receipt r WHERE r.send_id = ANY (open_sends);
    GET DIAGNOSTICS receipts = ROW_COUNT;
    UPDATE courier.send s SET deadline = least(s.deadline, clock_timestamp()), rendering = ''
    WHERE s.id = ANY (open_sends);
    GET DIAGNOSTICS sends = ROW_COUNT;

    -- 5. The verifications. One that was live cannot be approved any more; the next sweep tells that it is over.
    PERFORM FROM courier.verification v WHERE v.id = ANY (ids) ORDER BY v.id FOR UPDATE;
    SELECT count(*) INTO cancelled FROM courier.verification v WHERE v.id = ANY (ids) AND v.state = 'live';
    UPDATE courier.verification v
    SET state = CASE v.state WHEN 'live' THEN 'cancelled' ELSE v.state END,
        expires_at = CASE WHEN v.ended_at IS NULL THEN least(v.expires_at, clock_timestamp()) ELSE v.expires_at END,
        sealed = NULL, fingerprint = erased, masked = 'erased', subject = NULL
    WHERE v.id = ANY (ids);
    GET DIAGNOSTICS verifications = ROW_COUNT;
END
$$;

-- The moment that rows of a day are kept from; a retention that would let rows go that are in use is an error.
CREATE OR REPLACE FUNCTION courier.oldest_kept(retention interval) RETURNS timestamptz
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moment CONSTANT timestamptz := clock_timestamp();
    -- An hour is added: what begins before midnight ends after it.
    oldest CONSTANT timestamptz := moment - retention - interval '1 hour';
BEGIN
    -- Judged by what it comes to, which for months and days is another thing each time; NULL comes to nothing.
    IF (oldest <= moment - interval '25 hours') IS NOT TRUE THEN
        RAISE EXCEPTION 'rows are in use for a day: give a retention of 24 hours or more'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN oldest;
END
$$;

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
    oldest timestamptz := courier.oldest_kept(retention);
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

REVOKE ALL ON FUNCTION courier.shard_place() FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.oldest_kept(interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.shard_place() TO courier_operator;
