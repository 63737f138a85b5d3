-- SPDX-License-Identifier: Apache-2.0
-- The replay of the toll-fraud brake, how far its reader is, and who placed an order. Every statement may be run again.

-- The time up to which verifications are judged.
ALTER TABLE courier.conversion_reader ADD COLUMN IF NOT EXISTS judged_to timestamptz NOT NULL DEFAULT '-infinity';

SELECT courier.sample_less('courier.conversion_reader');

-- The outcome of a verification for the brake: 1 approved, 2 no message has left, 3 the provider called it fraud, 4 no
-- message has left yet, 0 not approved.
--
-- One that expired without a provider that took a message never left, although its status tells only of the end. Without
-- a search_path, so that a query contains the expression and no call.
CREATE OR REPLACE FUNCTION courier.conversion_outcome(state text, status text, reason text, used_providers text)
RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN state = 'approved' THEN 1
        WHEN status IS NULL THEN 4
        WHEN reason = 'fraud_blocked_by_provider' THEN 3
        WHEN status IN ('failed', 'undelivered', 'expired_unsent') THEN 2
        WHEN status = 'expired' AND coalesce(used_providers, '') !~ '(^| )[^! ]' THEN 2
        ELSE 0
    END::smallint
$$;

-- The verifications of phone numbers that began from one time up to another, as the brake sees them: no result has a
-- recipient, a number, an address or an account. Without a tenant, of all tenants.
CREATE OR REPLACE FUNCTION courier.brake_history(since timestamptz, before timestamptz, of_tenant text)
RETURNS TABLE (
    id uuid, tenant text, region text, client_key bigint, prefix_key bigint, range_key bigint, confirmed boolean,
    outcome smallint, used_providers text, sends_used smallint, approved_at timestamptz
)
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT v.id, v.tenant, v.region, v.client_key, v.prefix_key, v.range_key, v.confirmed,
        courier.conversion_outcome(v.state, v.status, v.reason, v.used_providers), v.used_providers, v.sends_used,
        CASE WHEN v.state = 'approved' THEN v.ended_at END
    FROM courier.verification v
    WHERE v.id >= courier.uuid_floor(since) AND v.id < courier.uuid_floor(before) AND v.channel = 'sms'
        AND NOT v.fictional AND (of_tenant IS NULL OR v.tenant = of_tenant)
$$;

-- The time and the login of an operator's order are the server's to say.
CREATE OR REPLACE FUNCTION courier.sign_brake_order() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    NEW.created_at := clock_timestamp();
    NEW.created_by := session_user;
    RETURN NEW;
END
$$;

REVOKE ALL ON FUNCTION courier.sign_brake_order() FROM PUBLIC;

CREATE OR REPLACE TRIGGER brake_override_signature
BEFORE INSERT OR UPDATE ON courier.brake_override
FOR EACH ROW EXECUTE FUNCTION courier.sign_brake_order();

REVOKE ALL ON FUNCTION courier.conversion_outcome(text, text, text, text),
    courier.brake_history(timestamptz, timestamptz, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION courier.conversion_outcome(text, text, text, text) TO courier_worker;
GRANT EXECUTE ON FUNCTION courier.brake_history(timestamptz, timestamptz, text) TO courier_operator;
GRANT SELECT ON courier.conversion TO courier_operator;
