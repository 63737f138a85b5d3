-- SPDX-License-Identifier: Apache-2.0
-- A caller's temporary schema is looked in last. Where it is not named it comes first, for the names of types too, and
-- this function is called by some that run with the rights of their owner.

ALTER FUNCTION courier.uuid_floor(timestamptz) SET search_path = pg_catalog, pg_temp;
