-- SPDX-License-Identifier: Apache-2.0
-- Where a repeat after an unknown outcome (resend_once) must not go. Every statement may be run again.

-- Providers with a space between: those that have refused the message, and last the one that it is marked for, which may
-- have it. Written with the mark, so that it is known of a worker that dies as it calls. NULL: nobody knows which.
ALTER TABLE courier.send ADD COLUMN IF NOT EXISTS tried_providers text;

SELECT courier.sample_less('courier.send');
