-- SPDX-License-Identifier: Apache-2.0
-- Who is not asked again for a send. Every statement may be run again.

-- The providers that have refused the message, with a space between. NULL: none.
ALTER TABLE courier.send ADD COLUMN IF NOT EXISTS refused_by text;

SELECT courier.sample_less('courier.send');
