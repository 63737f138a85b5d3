-- SPDX-License-Identifier: Apache-2.0
-- The rate limits of providers, which the whole fleet shares. Every statement may be run again.

-- One row a provider, by the generic cell rate algorithm: a token moves full_at on by the time that it takes at the
-- provider's rate, and full_at is at most one burst ahead of now.
--
-- Every worker updates these few rows several times a second. Unlogged, an update is no flush to disk under the row's
-- lock; a crash of the server empties the table, which costs the providers one burst.
CREATE UNLOGGED TABLE IF NOT EXISTS courier.provider_rate (
    provider text PRIMARY KEY,
    full_at timestamptz NOT NULL,      -- when a whole burst may leave again
    granted integer NOT NULL           -- tokens that the newest statement took
);

GRANT SELECT, INSERT, UPDATE ON courier.provider_rate TO courier_worker;

SELECT courier.sample_less('courier.provider_rate');
