-- SPDX-License-Identifier: Apache-2.0
-- What an operator sees of a request: its answer, its verification and its messages. No result has a recipient, a code or an
-- account. Every statement may be run again.

-- The answers to a request id, the newest first. Without verification_id the request was answered at once.
CREATE OR REPLACE FUNCTION courier.show_request(of_tenant text, of_request text)
RETURNS TABLE (
    day date, verification_id uuid, status text, reason text, rule text,
    record_partition integer, record_offset bigint, record_time bigint
)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT r.day, r.verification_id, r.status, r.reason, r.rule, r.record_partition, r.record_offset, r.record_time
    FROM courier.request r
    WHERE r.key = courier.request_key(of_tenant, of_request)
    ORDER BY r.day DESC
$$;

-- The newest verification of each purpose of one recipient, the newest first; without a tenant, of all tenants.
--
-- fingerprints: the recipient's under every key of the ring.
CREATE OR REPLACE FUNCTION courier.show_recipient(fingerprints bytea[], of_tenant text) RETURNS SETOF uuid
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT encode(substring(p.slots FROM s.id FOR 16), 'hex')::uuid
    FROM unnest(fingerprints) AS f(fingerprint)
    JOIN courier.person p
        ON p.key >= encode(substring(f.fingerprint FOR 10) || '\x000000000000'::bytea, 'hex')::uuid
        AND p.key <= encode(substring(f.fingerprint FOR 10) || '\xffffffffffff'::bytea, 'hex')::uuid
    CROSS JOIN LATERAL generate_series(2, length(p.slots) - 15, 17) AS s(id)
    WHERE of_tenant IS NULL OR p.key = courier.limit_key('recipient', of_tenant, f.fingerprint)
    ORDER BY 1 DESC
$$;

-- A verification. unpublished: its events that Kafka may not have yet.
CREATE OR REPLACE FUNCTION courier.show_verification(of_id uuid)
RETURNS TABLE (
    tenant text, purpose text, channel text, region text, masked text, request_id text, policy_version text, state text,
    status text, reason text, sequence integer, checks_used smallint, max_checks smallint, sends_used smallint,
    max_sends smallint, send_open boolean, fictional boolean, resend_after timestamptz, expires_at timestamptz,
    ended_at timestamptz, unpublished bigint
)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT v.tenant, v.purpose, v.channel, v.region, v.masked, v.request_id, v.policy_version, v.state,
        v.status, v.reason, v.sequence, v.checks_used, v.max_checks, v.sends_used,
        v.max_sends, v.send_open, v.fictional, v.resend_after, v.expires_at,
        v.ended_at, (SELECT count(*) FROM courier.unpublished u WHERE u.stream = v.id)
    FROM courier.verification v
    WHERE v.id = of_id
$$;

-- The messages of a verification. lease_until: of a message without an outcome; a worker has it until then.
CREATE OR REPLACE FUNCTION courier.show_sends(of_id uuid)
RETURNS TABLE (
    number smallint, id uuid, state text, attempts smallint, segments smallint, encoding text, provider text,
    provider_message_id text, error_code text, refused_by text, repeated boolean, request_id text, deadline timestamptz,
    lease_until timestamptz
)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT s.number, s.id, s.state, s.attempts, s.segments, s.encoding, s.provider,
        s.provider_message_id, s.error_code, s.refused_by, s.repeated, coalesce(s.request_id, v.request_id), s.deadline,
        CASE WHEN s.state IN ('pending', 'claimed', 'dispatching')
            THEN (SELECT max(p.lease_until) FROM courier.parcel p WHERE s.id = ANY (p.sends)) END
    FROM courier.verification v
    JOIN courier.send s ON s.verification_id = v.id
        AND s.id BETWEEN (left(v.id::text, 13) || '-0000-0000-000000000000')::uuid
            AND courier.uuid_floor(v.expires_at + interval '1 second')
    WHERE v.id = of_id
    ORDER BY s.number
$$;

REVOKE ALL ON FUNCTION courier.show_request(text, text), courier.show_recipient(bytea[], text),
    courier.show_verification(uuid), courier.show_sends(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.show_request(text, text), courier.show_recipient(bytea[], text),
    courier.show_verification(uuid), courier.show_sends(uuid) TO courier_operator;
