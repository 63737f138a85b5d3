-- SPDX-License-Identifier: Apache-2.0
-- Erasure of one recipient on demand. Every statement may be run again.

-- Ends what is live for one recipient and removes their data from every table; without a tenant, for all tenants. What
-- begins meanwhile is found, too.
--
-- fingerprints: the recipient's under every key of the ring. It counts the rows that it changed, by table; a second
-- call finds none. Rows that stay have no recipient: request ids with a keyed digest, so that a repeated request is
-- still known, and the ids of sends, by which receipts find them. Records of the outbox are published as they are.
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
    -- An id is made before its row, by a worker's clock, which may be behind.
    since CONSTANT uuid := courier.uuid_floor(clock_timestamp() - interval '1 hour');
    ids uuid[];
    open_sends uuid[];
BEGIN
    -- 1. Find them without a lock: no index has fingerprints, so the search is long, and nobody shall wait for it.
    ids := ARRAY(
        SELECT v.id FROM courier.verification v
        WHERE v.fingerprint = ANY (fingerprints) AND v.fingerprint <> erased
          AND (of_tenant IS NULL OR v.tenant = of_tenant)
    );

    -- 2. Slots first, by key, as in every transaction: from here on no request for one of them is decided.
    PERFORM FROM courier.slot s
    WHERE s.fingerprint = ANY (fingerprints) AND (of_tenant IS NULL OR s.tenant = of_tenant)
    ORDER BY s.fingerprint, s.tenant, s.purpose FOR UPDATE;
    WITH gone AS (
        DELETE FROM courier.slot s
        WHERE s.fingerprint = ANY (fingerprints) AND (of_tenant IS NULL OR s.tenant = of_tenant)
        RETURNING s.verification_id
    )
    SELECT count(*), ids || coalesce(array_agg(gone.verification_id), '{}') INTO slots, ids FROM gone;

    -- 3. Then windows, which a request for a purpose without a slot locks, too; and then the verifications that have
    --    begun since the search: some may have ended, so that no slot pointed to them any more.
    DELETE FROM courier.limit_window w
    WHERE w.scope = 'recipient' AND w.fingerprint = ANY (fingerprints) AND (of_tenant IS NULL OR w.tenant = of_tenant);
    GET DIAGNOSTICS limit_windows = ROW_COUNT;
    ids := ids || ARRAY(
        SELECT v.id FROM courier.verification v
        WHERE v.id >= since AND v.fingerprint = ANY (fingerprints) AND v.fingerprint <> erased
          AND (of_tenant IS NULL OR v.tenant = of_tenant)
    );

    -- 4. Unsent messages stay unsent: the deadline of every send without an outcome ends now, and the next sweep
    --    reports it as expired_unsent. A receipt that waits for one of them may hold the number.
    open_sends := ARRAY(
        SELECT DISTINCT s.id
        FROM (SELECT unnest(p.sends) AS id FROM courier.parcel p) AS u
        JOIN courier.send s ON s.id = u.id
        WHERE s.state IN ('pending', 'claimed', 'dispatching') AND s.verification_id = ANY (ids)
        ORDER BY s.id
    );
    DELETE FROM courier.receipt r WHERE r.send_id = ANY (open_sends);
    GET DIAGNOSTICS receipts = ROW_COUNT;
    UPDATE courier.send s SET deadline = least(s.deadline, clock_timestamp()), rendering = ''
    WHERE s.id = ANY (open_sends);
    GET DIAGNOSTICS sends = ROW_COUNT;

    -- 5. The verifications. One that was live cannot be approved any more; the next sweep reports its end.
    PERFORM FROM courier.verification v WHERE v.id = ANY (ids) ORDER BY v.id FOR UPDATE;
    SELECT count(*) INTO cancelled FROM courier.verification v WHERE v.id = ANY (ids) AND v.state = 'live';
    UPDATE courier.verification v
    SET state = CASE v.state WHEN 'live' THEN 'cancelled' ELSE v.state END,
        expires_at = CASE WHEN v.ended_at IS NULL THEN least(v.expires_at, clock_timestamp()) ELSE v.expires_at END,
        due_at = CASE WHEN v.ended_at IS NULL THEN least(v.due_at, clock_timestamp()) ELSE v.due_at END,
        sealed = NULL, fingerprint = erased, masked = 'erased', subject = NULL
    WHERE v.id = ANY (ids);
    GET DIAGNOSTICS verifications = ROW_COUNT;
END
$$;

REVOKE ALL ON FUNCTION courier.erase_recipient(bytea[], text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.erase_recipient(bytea[], text) TO courier_operator;
