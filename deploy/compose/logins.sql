-- SPDX-License-Identifier: Apache-2.0
-- The logins of an installation, with passwords from files. It may be run again, as after a password was changed.
\set worker_password `cat /run/secrets/worker-password`
\set monitor_password `cat /run/secrets/monitor-password`

SELECT format('CREATE ROLE %I LOGIN', wanted)
FROM unnest(ARRAY['code_courier', 'courier_watch']) AS wanted
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted)
\gexec

ALTER ROLE code_courier PASSWORD :'worker_password';
ALTER ROLE courier_watch PASSWORD :'monitor_password';
GRANT courier_worker TO code_courier;
GRANT courier_monitor TO courier_watch;
