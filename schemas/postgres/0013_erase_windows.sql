-- SPDX-License-Identifier: Apache-2.0
-- An erasure that also finds what begins meanwhile for another purpose. Every statement may be run again.

-- As before, but windows are waited for before the second search: whoever held one may have begun for another purpose.
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

    -- 2. Slots first, as everywhere, in the workers' order: from here on no request for one of theirs is decided.
    PERFORM FROM courier.slot s
    WHERE s.fingerprint = ANY (fingerprints) AND (of_tenant IS NULL OR s.tenant = of_tenant)
    ORDER BY s.fingerprint, s.tenant, s.purpose FOR UPDATE;
    WITH gone AS (
        DELETE FROM courier.slot s
        WHERE s.fingerprint = ANY (fingerprints) AND (of_tenant IS NULL OR s.tenant = of_tenant)
        RETURNING s.verification_id
    )
    SELECT count(*), ids || coalesce(array_agg(gone.verification_id), '{}') INTO slots, ids FROM gone;

    -- 3. Then windows, which whoever begins for a purpose without a slot holds, too; and what has begun since the
    --    search: of verifications some may have ended, and no slot told of them any more.
    DELETE FROM courier.limit_window w
    WHERE w.scope = 'recipient' AND w.fingerprint = ANY (fingerprints) AND (of_tenant IS NULL OR w.tenant = of_tenant);
    GET DIAGNOSTICS limit_windows = ROW_COUNT;
    ids := ids || ARRAY(
        SELECT v.id FROM courier.verification v
        WHERE v.id >= since AND v.fingerprint = ANY (fingerprints) AND v.fingerprint <> erased
          AND (of_tenant IS NULL OR v.tenant = of_tenant)
    );

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
