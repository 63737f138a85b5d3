-- SPDX-License-Identifier: Apache-2.0
-- Which messages are evidence for the toll-fraud brake, and the requests that an order refused. Every statement may be
-- run again.

-- The outcome of a verification for the brake: 1 approved, 2 no message has left, 3 the provider called it fraud, 4 no
-- message has left yet, 0 not approved.
--
-- A message that ended undelivered has left and costs money, and a carrier that shares in the fraud writes its own
-- receipts: it counts as one that was sent. A verification has none that left if its newest one did not and no provider
-- has taken an earlier one. Without a search_path, so that a query contains the expression and no call.
CREATE OR REPLACE FUNCTION courier.conversion_outcome(state text, status text, reason text, used_providers text)
RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT CASE
        WHEN state = 'approved' THEN 1
        WHEN status IS NULL THEN 4
        WHEN reason = 'fraud_blocked_by_provider' THEN 3
        WHEN status IN ('failed', 'expired_unsent', 'expired') AND coalesce(used_providers, '') !~ '(^| )[^! ]' THEN 2
        ELSE 0
    END::smallint
$$;

-- The requests that an order to block refused.
ALTER TABLE courier.brake_override ADD COLUMN IF NOT EXISTS refused bigint NOT NULL DEFAULT 0;

-- An order that is placed anew is signed anew, and its counts begin anew; the workers' counts are no order.
CREATE OR REPLACE FUNCTION courier.sign_brake_order() RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    NEW.created_at := clock_timestamp();
    NEW.created_by := session_user;
    NEW.used := 0;
    NEW.matured := 0;
    NEW.matured_to := NULL;
    NEW.refused := 0;
    RETURN NEW;
END
$$;

SELECT courier.sample_less('courier.brake_override');

GRANT UPDATE (refused) ON courier.brake_override TO courier_worker;

-- An operator sees whether somebody judges: without a reader a half-open scope refuses nobody.
GRANT SELECT (judged_to) ON courier.conversion_reader TO courier_operator;
