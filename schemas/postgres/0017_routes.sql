-- SPDX-License-Identifier: Apache-2.0
-- Adaptive routes: the shares of providers by region, and the evidence for them.

-- First messages of verifications by their provider, and those of them whose codes were approved before a second one.
-- Messages that a provider called fraud are left out.
ALTER TABLE courier.conversion ADD COLUMN IF NOT EXISTS first_sends bigint NOT NULL DEFAULT 0;
ALTER TABLE courier.conversion ADD COLUMN IF NOT EXISTS first_approved bigint NOT NULL DEFAULT 0;

-- Raised by every change of courier.route_share.
ALTER TABLE courier.conversion_reader ADD COLUMN IF NOT EXISTS routes_version bigint NOT NULL DEFAULT 0;

-- Written by the reader of conversions, a few rows for each tenant with adaptive routes.
CREATE TABLE IF NOT EXISTS courier.route_share (
    tenant text COLLATE "C" NOT NULL,
    region text COLLATE "C" NOT NULL,  -- '' for regions without evidence
    provider text COLLATE "C" NOT NULL,
    place integer NOT NULL,            -- of the provider in its route
    share integer NOT NULL,            -- of 10,000 messages
    conversion double precision NOT NULL,
    deviation double precision NOT NULL,
    observations double precision NOT NULL,
    silent_since timestamptz,          -- set while the provider counts as silent
    silent_until timestamptz,
    PRIMARY KEY (tenant, region, provider)
);

SELECT courier.sample_less('courier.conversion');
SELECT courier.sample_less('courier.conversion_reader');
SELECT courier.sample_less('courier.route_share');

GRANT SELECT, INSERT, DELETE ON courier.route_share TO courier_worker;
GRANT SELECT ON courier.route_share, courier.conversion TO courier_operator;
