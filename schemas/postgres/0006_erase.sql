-- Erasure of one recipient on demand. Every statement may be run again.

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.rolname = 'courier_operator') THEN
        CREATE ROLE courier_operator NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END
$$;

-- Ends what lives for one recipient and takes from every table what tells of them; without a tenant, of all tenants.
--
-- fingerprints: the recipient's under every key of the ring. It counts the rows that it changed, by table; a second
-- call finds none. What stays has no recipient: request ids with a keyed digest, so that a request that comes again is
-- still known, and the ids of sends, by which receipts find them. Records of the outbox are told to Kafka as they are.
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
    ids uuid[];
    slot_keys record;
    window_tenants text[];
    window_keys bytea[];
    open_sends uuid[];
BEGIN
    -- 1. Look for them without a lock: no index knows a fingerprint, and nobody is to wait meanwhile.
    ids := ARRAY(
        SELECT v.id FROM courier.verification v
        WHERE v.fingerprint = ANY (fingerprints) AND v.fingerprint <> erased
          AND (of_tenant IS NULL OR v.tenant = of_tenant)
    );
    SELECT array_agg(s.tenant) AS tenants, array_agg(s.purpose) AS purposes, array_agg(s.fingerprint) AS prints
    INTO slot_keys
    FROM (
        SELECT * FROM courier.slot s
        WHERE s.fingerprint = ANY (fingerprints) AND (of_tenant IS NULL OR s.tenant = of_tenant)
        ORDER BY s.fingerprint, s.tenant, s.purpose
    ) s;
    SELECT array_agg(w.tenant), array_agg(w.fingerprint)
    INTO window_tenants, window_keys
    FROM courier.limit_window w
    WHERE w.scope = 'recipient' AND w.fingerprint = ANY (fingerprints) AND (of_tenant IS NULL OR w.tenant = of_tenant);

    -- 2. Slots first, as everywhere: from here on no request of theirs is decided. A slot names a verification that
    --    has begun since the search.
    WITH gone AS (
        DELETE FROM courier.slot s
        USING unnest(slot_keys.tenants, slot_keys.purposes, slot_keys.prints) AS k(tenant, purpose, fingerprint)
        WHERE s.tenant = k.tenant AND s.purpose = k.purpose AND s.fingerprint = k.fingerprint
        RETURNING s.verification_id
    )
    SELECT count(*), ids || coalesce(array_agg(gone.verification_id), '{}') INTO slots, ids FROM gone;
    DELETE FROM courier.limit_window w
    USING unnest(window_tenants, window_keys) AS k(tenant, fingerprint)
    WHERE w.scope = 'recipient' AND w.tenant = k.tenant AND w.fingerprint = k.fingerprint;
    GET DIAGNOSTICS limit_windows = ROW_COUNT;

    -- 3. What has not left does not leave: the deadline of every send without an outcome is over, which the next sweep
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

    -- 4. The verifications. One that was live cannot be approved any more; the next sweep tells that it is over.
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

GRANT USAGE ON SCHEMA courier TO courier_operator;
REVOKE ALL ON FUNCTION courier.erase_recipient(bytea[], text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.erase_recipient(bytea[], text) TO courier_operator;
