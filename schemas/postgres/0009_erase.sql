-- SPDX-License-Identifier: Apache-2.0
-- Erasure of one recipient on demand. Every statement may be run again.

-- Deletes one recipient's rows of courier.person, for one tenant or for all, and returns the verifications in them.
--
-- The rows are locked by key, as in every transaction: once they are, no request for one of them is decided.
CREATE OR REPLACE FUNCTION courier.delete_persons(
    IN fingerprints bytea[], IN of_tenant text, OUT persons bigint, OUT ids uuid[]
)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    keys CONSTANT uuid[] := ARRAY(
        SELECT p.key
        FROM unnest(fingerprints) AS f(fingerprint)
        JOIN courier.person p
            ON p.key >= encode(substring(f.fingerprint FOR 10) || '\x000000000000'::bytea, 'hex')::uuid
            AND p.key <= encode(substring(f.fingerprint FOR 10) || '\xffffffffffff'::bytea, 'hex')::uuid
        WHERE of_tenant IS NULL OR p.key = courier.limit_key('recipient', of_tenant, f.fingerprint)
    );
BEGIN
    PERFORM FROM courier.person p WHERE p.key = ANY (keys) ORDER BY p.key FOR UPDATE;
    WITH gone AS (
        DELETE FROM courier.person p WHERE p.key = ANY (keys) RETURNING p.key, p.slots
    )
    SELECT count(DISTINCT gone.key),
        coalesce(array_agg(encode(substring(gone.slots FROM s.id FOR 16), 'hex')::uuid) FILTER (WHERE s.id > 0), '{}')
    INTO persons, ids
    FROM gone LEFT JOIN LATERAL generate_series(2, length(gone.slots) - 15, 17) AS s(id) ON true;
END
$$;

REVOKE ALL ON FUNCTION courier.delete_persons(bytea[], text) FROM PUBLIC;

-- Ends what is live for one recipient and removes their data from every table; without a tenant, for all tenants. What
-- begins meanwhile is found, too.
--
-- fingerprints: the recipient's under every key of the ring. It counts the rows that it changed, by table; a second
-- call finds none. Rows that stay have no recipient: request ids with a keyed digest, so that a repeated request is
-- still known, and the ids of sends, by which receipts find them. Records of the outbox are published as they are.
CREATE OR REPLACE FUNCTION courier.erase_recipient(
    IN fingerprints bytea[],
    IN of_tenant text,
    OUT persons bigint,
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
    found record;
BEGIN
    -- 1. Find them without a lock: no index has fingerprints, so the search is long, and nobody shall wait for it.
    ids := ARRAY(
        SELECT v.id FROM courier.verification v
        WHERE v.fingerprint = ANY (fingerprints) AND v.fingerprint <> erased
          AND (of_tenant IS NULL OR v.tenant = of_tenant)
    );

    -- 2. Persons first: from here on no request for one of them is decided.
    found := courier.delete_persons(fingerprints, of_tenant);
    persons := found.persons;
    ids := ids || found.ids;

    -- 3. Then the verifications that have begun since the search: some may have ended, so that no slot points to them any
    --    more.
    ids := ids || ARRAY(
        SELECT v.id FROM courier.verification v
        WHERE v.id >= since AND v.fingerprint = ANY (fingerprints) AND v.fingerprint <> erased
          AND (of_tenant IS NULL OR v.tenant = of_tenant)
    );
    -- A person that was new is there as soon as the first verification is.
    found := courier.delete_persons(fingerprints, of_tenant);
    persons := persons + found.persons;
    ids := ids || found.ids;

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
        sealed = NULL, fingerprint = erased, masked = 'erased', subject = NULL,
        client_key = NULL, prefix_key = NULL, range_key = NULL
    WHERE v.id = ANY (ids);
    GET DIAGNOSTICS verifications = ROW_COUNT;

    -- 6. Operators' orders to the toll-fraud brake about the number alone.
    DELETE FROM courier.brake_override o
    WHERE o.scope = 'phone' AND (of_tenant IS NULL OR o.tenant = of_tenant)
      AND o.key = ANY (ARRAY(
          SELECT ('x' || encode(substring(f.fingerprint FOR 8), 'hex'))::bit(64)::bigint
          FROM unnest(fingerprints) AS f(fingerprint)
      ));
END
$$;

REVOKE ALL ON FUNCTION courier.erase_recipient(bytea[], text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.erase_recipient(bytea[], text) TO courier_operator;
