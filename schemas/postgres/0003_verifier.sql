-- SPDX-License-Identifier: Apache-2.0
-- The verifier's whole contract: two functions, and no table. Every statement may be run again.

-- Checks one guess: a code, the token of a link or the code beside it, or the secret of a push. The guess is counted
-- before it is compared, concurrent guesses wait for each other on the verification's row, and only one can approve it.
--
-- status: approved | incorrect | expired | locked | already_approved | not_found
CREATE OR REPLACE FUNCTION courier.check_code(
    IN verification_id uuid,
    IN code_hash bytea,
    OUT status text,
    OUT checks_left integer,
    OUT tenant text,
    OUT purpose text,
    OUT subject text,
    OUT channel text,
    INOUT recipient_fingerprint bytea DEFAULT NULL
)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '2s'
AS $$
#variable_conflict use_variable
DECLARE
    claimed bytea := recipient_fingerprint;
    guess bytea := code_hash;
    found_row courier.verification%ROWTYPE;
    matches boolean;
BEGIN
    -- 1. The row is locked until the caller's COMMIT, and the person's next request waits for it: a caller that is idle
    --    before its COMMIT is disconnected. A shorter limit of the caller's own is kept.
    IF current_setting('idle_in_transaction_session_timeout')::interval NOT BETWEEN interval '1 ms' AND interval '5 s' THEN
        PERFORM set_config('idle_in_transaction_session_timeout', '5s', true);
    END IF;

    -- 2. One guess at a time. A guess that waits longer than lock_timeout above fails with 55P03 and is not counted.
    SELECT v.* INTO found_row FROM courier.verification v WHERE v.id = verification_id FOR UPDATE;
    IF NOT FOUND THEN
        status := 'not_found';
        recipient_fingerprint := NULL;
        RETURN;
    END IF;
    tenant := found_row.tenant;
    purpose := found_row.purpose;
    subject := found_row.subject;
    channel := found_row.channel;
    recipient_fingerprint := found_row.fingerprint;
    checks_left := found_row.max_checks - found_row.checks_used;

    -- 3. States in which no guess is evaluated.
    IF found_row.state = 'approved' THEN
        status := 'already_approved';
        RETURN;
    ELSIF found_row.state = 'locked' THEN
        status := 'locked';
        RETURN;
    ELSIF found_row.state <> 'live' OR found_row.expires_at <= clock_timestamp() THEN
        status := 'expired';
        RETURN;
    END IF;

    -- 4. Compare digests of the hashes, so that the time taken does not depend on how much of a guess is right.
    --    The code beside a link is approved like the link while it lives, and is a wrong guess afterwards.
    checks_left := checks_left - 1;
    guess := sha256(coalesce(guess, ''::bytea));
    matches := (
            guess = sha256(found_row.code_hash)
            OR coalesce(
                guess = sha256(found_row.short_hash) AND found_row.short_until > clock_timestamp(), false
            )
        )
        AND CASE
            WHEN claimed IS NOT NULL THEN sha256(claimed) = sha256(found_row.fingerprint)
            ELSE found_row.channel <> 'email'
        END;

    -- 5. Count the guess and settle the state in one write.
    status := CASE WHEN matches THEN 'approved' WHEN checks_left <= 0 THEN 'locked' ELSE 'incorrect' END;
    UPDATE courier.verification v
    SET checks_used = v.checks_used + 1,
        state = CASE status WHEN 'incorrect' THEN v.state ELSE status END,
        ended_at = CASE status WHEN 'approved' THEN clock_timestamp() ELSE v.ended_at END,
        sealed = CASE status WHEN 'incorrect' THEN v.sealed END
    WHERE v.id = verification_id;
END
$$;

-- The key that the verifier hashes a guess with. No row for an unknown verification.
CREATE OR REPLACE FUNCTION courier.hash_key_of(
    IN verification_id uuid,
    OUT key_id smallint,
    OUT generation integer
)
RETURNS SETOF record
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT v.hash_key, v.generation FROM courier.verification v WHERE v.id = verification_id
$$;

REVOKE ALL ON FUNCTION courier.check_code(uuid, bytea, bytea) FROM PUBLIC;
REVOKE ALL ON FUNCTION courier.hash_key_of(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.check_code(uuid, bytea, bytea) TO courier_verifier;
GRANT EXECUTE ON FUNCTION courier.hash_key_of(uuid) TO courier_verifier;
