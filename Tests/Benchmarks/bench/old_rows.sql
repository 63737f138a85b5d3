-- SPDX-License-Identifier: Apache-2.0
-- Rows that $requests requests of the day before have left in the worker's tables: five of each.
-- Each has a person and, four to one, an address of its own.

CREATE TEMP TABLE old AS
SELECT n, sha256(int8send(n)) AS fingerprint, sha256(int8send(-(n / 4) - 1)) AS address, moment,
    encode(substring(uuid_send(courier.uuid_floor(moment)) FOR 6) || '\x7000'::bytea
        || substring(sha256(int8send(n)) FOR 8), 'hex')::uuid AS id
FROM (
    SELECT n, date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - n * (interval '20 hours' / $requests)
        AS moment
    FROM generate_series(1, $requests) AS n
) AS moments;
INSERT INTO courier.request (day, key, digest, verification_id, record_topic, record_partition, record_offset, record_time)
SELECT (moment AT TIME ZONE 'UTC')::date, md5('old-' || n)::uuid, encode(substring(fingerprint FOR 16), 'hex')::uuid, id,
    1, 0, n, (extract(epoch FROM moment) * 1000)::bigint
FROM old;
INSERT INTO courier.person (key, kept_until, slots, entries)
SELECT courier.limit_key('recipient', 'default', fingerprint), moment + interval '50 hours', '\x02'::bytea || uuid_send(id),
    int8send((extract(epoch FROM moment) * 1000000)::bigint) || int4send(1)
FROM old;
INSERT INTO courier.verification (id, request_id, tenant, purpose, channel, fingerprint, region, masked, seal_key,
    code_key, hash_key, generation, code_hash, code_length, state, status, max_checks, sends_used, max_sends, send_open,
    sequence, resend_after, expires_at, ended_at, policy_version)
SELECT id, 'old-' || n, 'default', 'sign_in', 'sms', fingerprint, 'DE', '+******1234', 1, 1, 1, 1, fingerprint, 6,
    'expired', 'expired', 5, 1, 5, false, 2, moment, moment, moment, 'old.1'
FROM old;
INSERT INTO courier.send (id, verification_id, number, generation, request_id, state, deadline, attempts,
    resend_window_ms, rendering, provider, provider_message_id, segments)
SELECT id, id, 1, 1, 'old-' || n, 'sent', moment, 1, 60000, '', 'main', 'SMold' || n, 1 FROM old;
INSERT INTO courier.limit_window (key, expires_at, entries)
SELECT DISTINCT ON (address) courier.limit_key('ip', 'default', address), moment + interval '1 hour',
    int8send((extract(epoch FROM moment) * 1000000)::bigint) || int4send(1)
FROM old;
