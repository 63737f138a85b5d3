-- SPDX-License-Identifier: Apache-2.0
-- Events of approved and locked verifications, which the verifier's function writes. Every statement may be run again.

-- The setting events.approved, of the worker that started last.
CREATE TABLE IF NOT EXISTS courier.event_setting (
    is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
    approved boolean NOT NULL DEFAULT false
) WITH (fillfactor = 10);

INSERT INTO courier.event_setting DEFAULT VALUES ON CONFLICT DO NOTHING;

SELECT courier.sample_less('courier.event_setting');

GRANT SELECT, UPDATE ON courier.event_setting TO courier_worker;

-- Writes the event of a verification that has ended, byte for byte as a worker would: `ended` is the row before its end.
-- The event is due at once, and behind the verification's earlier ones.
--
-- No line depends on a setting of the caller's session: it has no backslash, and every time names its zone.
CREATE OR REPLACE FUNCTION courier.write_end(ended courier.verification, ending text, moment timestamptz)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    number CONSTANT integer := ended.sequence + 1;
    timeline CONSTANT integer := courier.timeline();
    form CONSTANT text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
    body text;
    heads text[];
BEGIN
    -- 1. The value. Members without a value are left out.
    SELECT json_strip_nulls(row_to_json(e))::text INTO body
    FROM (
        SELECT ended.id AS "verificationId", ended.request_id AS "requestId", ended.tenant AS "tenant",
            ended.channel AS "channel", ended.purpose AS "purpose", ended.subject AS "subject",
            number AS "sequence", ending AS "status",
            (
                SELECT row_to_json(r)
                FROM (
                    SELECT ended.masked AS "masked", ended.region AS "region",
                        encode(ended.fingerprint, 'hex') AS "fingerprint"
                ) AS r
            ) AS "recipient",
            (SELECT row_to_json(c) FROM (SELECT ended.code_length AS "length", ended.generation AS "generation") AS c)
                AS "code",
            to_char(ended.resend_after AT TIME ZONE 'UTC', form) AS "resendAfter",
            to_char(ended.expires_at AT TIME ZONE 'UTC', form) AS "expiresAt",
            greatest(ended.max_sends - ended.sends_used, 0) AS "sendsLeft", ended.fictional AS "fictional",
            ended.policy_version AS "policyVersion", to_char(moment AT TIME ZONE 'UTC', form) AS "occurredAt"
    ) AS e;
    -- Line separators, which PostgreSQL does not escape.
    body := replace(replace(body, chr(8232), chr(92) || 'u2028'), chr(8233), chr(92) || 'u2029');

    -- 2. The headers: names and values in turn. Each is stored as its length and its bytes, with a byte 1 between the two.
    heads := ARRAY[
        'ce_specversion', '1.0',
        'ce_id', ended.id || '-' || number || CASE timeline WHEN 1 THEN '' ELSE '-' || timeline END,
        'ce_source', '/code-courier',
        'ce_type', 'com.codecourier.verification.delivery.v1',
        'ce_time', to_char(moment AT TIME ZONE 'UTC', form),
        'ce_subject', ended.id::text,
        'ce_requestid', ended.request_id,
        'content-type', 'application/json'
    ];
    INSERT INTO courier.outbox (stream, sequence, dead_letter, key, value, headers, lease_until)
    SELECT ended.id, number, false, convert_to(ended.id::text, 'UTF8'), convert_to(body, 'UTF8'),
        string_agg(
            CASE h.place % 2 WHEN 0 THEN int4send(1) || decode('01', 'hex') ELSE ''::bytea END
                || int4send(octet_length(h.text)) || convert_to(h.text, 'UTF8'),
            ''::bytea ORDER BY h.place
        ),
        moment
    FROM unnest(heads) WITH ORDINALITY AS h(text, place);
END
$$;

REVOKE ALL ON FUNCTION courier.write_end(courier.verification, text, timestamptz) FROM PUBLIC;

-- Checks a guess as in 0003_verifier; with events.approved it also writes the event of an approval or a lock, in the
-- caller's transaction.
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
    moment timestamptz;
    is_event_due boolean := false;
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
    moment := clock_timestamp();
    IF status <> 'incorrect' THEN
        is_event_due := coalesce((SELECT s.approved FROM courier.event_setting s), false);
    END IF;
    UPDATE courier.verification v
    SET checks_used = v.checks_used + 1,
        state = CASE status WHEN 'incorrect' THEN v.state ELSE status END,
        ended_at = CASE status WHEN 'approved' THEN moment ELSE v.ended_at END,
        sealed = CASE status WHEN 'incorrect' THEN v.sealed END,
        sequence = CASE WHEN is_event_due THEN v.sequence + 1 ELSE v.sequence END,
        status = CASE WHEN is_event_due THEN status ELSE v.status END,
        reason = CASE WHEN is_event_due THEN NULL ELSE v.reason END
    WHERE v.id = verification_id;

    -- 6. The event. Once it is published its number must never name another event, so the commit is on disk before that,
    --    whatever the caller's session prefers.
    IF is_event_due THEN
        IF current_setting('synchronous_commit') = 'off' THEN
            PERFORM set_config('synchronous_commit', 'on', true);
        END IF;
        PERFORM courier.write_end(found_row, status, moment);
    END IF;
END
$$;
