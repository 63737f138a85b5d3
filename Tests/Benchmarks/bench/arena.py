# SPDX-License-Identifier: Apache-2.0
"""What one run stands on: a database, a broker and a provider of its own, and the programs that it measures."""

import base64
import contextlib
import os
import signal
import subprocess
import tempfile
import time
import urllib.request
import uuid

import psycopg
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

BROKER = os.path.join(os.path.dirname(__file__), "../../../deploy/local/broker.sh")
PARTITIONS = 6
REQUESTS, DELIVERIES, DEAD_LETTERS, RECEIPTS = "requests", "deliveries", "dead-letters", "receipts"

POLICY = """
version: "bench.1"
tenants:
  default:
    appName: Acme
    regions: { allowlistOnly: { allowedRegions: [DE, GB, FR, IN] } }
    limits: { perTenant: [{ count: 100000000, per: 1m }] }
    routes: { default: [main] }
"""

CONFIGURATION = """
kafka:
  bootstrapServers: "{kafka}"
  groupId: "{name}"
  topics: {{ requests: "{name}.requests", receipts: "{name}.receipts", deliveries: "{name}.deliveries",
    deadLetters: "{name}.dead-letters" }}
  options: {{ session.timeout.ms: 6000{fetch_wait} }}
postgres: {{ url: "{url}" }}
worker: {{ batchSize: {parts.batch_size}, maxInFlight: {parts.max_in_flight} }}
policy: {{ path: "{folder}/policy.yaml" }}
providers:
  - {{ name: main, kind: twilio, baseURL: "http://127.0.0.1:{provider}", accountSid: ACbench, authToken: t, from: Acme }}
keys: {{ code: "{keys[0]}", hash: "{keys[1]}", fingerprint: "{keys[2]}", seal: "{keys[3]}" }}
"""


# Old requests are spread over the day before, each with a person and, four to one, an address of its own.
OLD_ROWS = """
CREATE TEMP TABLE old AS
SELECT n, sha256(int8send(n)) AS fingerprint, sha256(int8send(-(n / 4) - 1)) AS address, moment,
    encode(substring(uuid_send(courier.uuid_floor(moment)) FOR 6) || '\\x7000'::bytea
        || substring(sha256(int8send(n)) FOR 8), 'hex')::uuid AS id
FROM (
    SELECT n, date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - n * (interval '20 hours' / $requests)
        AS moment
    FROM generate_series(1, $requests) AS n
) AS moments;
INSERT INTO courier.request (day, tenant, request_id, digest, places, verification_id)
SELECT (moment AT TIME ZONE 'UTC')::date, 'default', 'old-' || n, substring(fingerprint FOR 16), 'requests/0@' || n, id
FROM old;
INSERT INTO courier.slot (tenant, purpose, fingerprint, verification_id)
SELECT 'default', 'sign_in', fingerprint, id FROM old;
INSERT INTO courier.verification (id, request_id, tenant, purpose, channel, fingerprint, region, masked, seal_key,
    code_key, hash_key, generation, code_hash, code_length, state, status, max_checks, sends_used, max_sends, send_open,
    sequence, resend_after, expires_at, ended_at, policy_version)
SELECT id, 'old-' || n, 'default', 'sign_in', 'sms', fingerprint, 'DE', '+******1234', 1, 1, 1, 1, fingerprint, 6,
    'expired', 'expired', 5, 1, 5, false, 2, moment, moment, moment, 'old.1'
FROM old;
INSERT INTO courier.send (id, verification_id, number, generation, request_id, state, deadline, attempts,
    resend_window_ms, rendering, provider, provider_message_id, segments)
SELECT id, id, 1, 1, 'old-' || n, 'sent', moment, 1, 60000, '', 'main', 'SMold' || n, 1 FROM old;
INSERT INTO courier.limit_window (scope, tenant, fingerprint, entries, expires_at)
SELECT 'recipient', 'default', fingerprint, int8send((extract(epoch FROM moment) * 1000000)::bigint) || int4send(1),
    moment + interval '1 day'
FROM old;
INSERT INTO courier.limit_window (scope, tenant, fingerprint, entries, expires_at)
SELECT DISTINCT ON (address) 'ip', 'default', address,
    int8send((extract(epoch FROM moment) * 1000000)::bigint) || int4send(1), moment + interval '1 hour'
FROM old"""


class Arena:
    """Made for one run and taken down after it."""

    def __init__(self, parts, fetch_wait=None):
        """The worker's fetches wait for so many ms, or as long as they do by default.

        Each one costs this broker a look through all that it holds, and is answered when its time is over, whatever has
        come meanwhile (broker.sh): short waits are for who measures latency.
        """
        self.parts = parts
        self.fetch_wait = "" if fetch_wait is None else f", fetch.wait.max.ms: {fetch_wait}"
        self.name = "bench_" + uuid.uuid4().hex[:12]
        self.programs = []

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="courier-bench-")
        with self.server() as server:
            server.execute(f"CREATE DATABASE {self.name}")
        self.url = self.parts.postgres.rpartition("/")[0] + "/" + self.name
        subprocess.run(
            [self.parts.program, "migrate", "--postgres-url", self.url], check=True, stdout=subprocess.DEVNULL
        )
        # A new one for each run: it keeps all records in memory, and slows with what it has held.
        self.broker("stop")
        self.kafka = self.broker("start")
        self.broker_process = int(self.broker("process"))
        admin = AdminClient({"bootstrap.servers": self.kafka})
        # No receipts come, and looking for some in a partition costs the broker as much as all records that it holds.
        partitions = {REQUESTS: PARTITIONS, DELIVERIES: PARTITIONS, DEAD_LETTERS: PARTITIONS, RECEIPTS: 1}
        made = admin.create_topics([NewTopic(self.topic(name), count, 1) for name, count in partitions.items()])
        for future in made.values():
            future.result(30)
        self.provider = subprocess.Popen([self.parts.benchmarks, "provider"], stdout=subprocess.PIPE, text=True)
        self.programs.append(self.provider)
        self.provider_port = int(self.provider.stdout.readline())
        keys = ["1:" + base64.b64encode(bytes([byte] * 32)).decode() for byte in range(1, 5)]
        self.configuration = f"{self.folder}/courier.yaml"
        with open(f"{self.folder}/policy.yaml", "w") as file:
            file.write(POLICY)
        with open(self.configuration, "w") as file:
            file.write(CONFIGURATION.format(
                kafka=self.kafka, name=self.name, url=self.url, folder=self.folder,
                provider=self.provider_port, keys=keys, fetch_wait=self.fetch_wait, parts=self.parts,
            ))
        self.watch()
        return self

    def __exit__(self, *_):
        for program in reversed(self.programs):
            program.kill()
            program.wait()
        self.watcher.close()
        with self.server() as server:
            server.execute(f"DROP DATABASE {self.name} WITH (FORCE)")
        subprocess.run(["rm", "-rf", self.folder], check=True)

    def server(self):
        return contextlib.closing(psycopg.connect(self.parts.postgres, autocommit=True))

    def database(self):
        return contextlib.closing(psycopg.connect(self.url, autocommit=True))

    def broker(self, command):
        done = subprocess.run([BROKER, command, "bench"], check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout.strip()

    def topic(self, name):
        return f"{self.name}.{name}"

    def produce(self, records):
        producer = Producer({"bootstrap.servers": self.kafka, "linger.ms": 20, "acks": "all"})
        for key, value, headers in records:
            while True:
                try:
                    producer.produce(self.topic(REQUESTS), value, key, headers=headers)
                    break
                except BufferError:
                    producer.poll(0.1)
        producer.flush(120)

    def wait_for(self, count, within):
        """Waits until so many events and dead letters are published, and returns how many there are."""
        end = time.monotonic() + within
        quiet = time.monotonic()
        while self.published < count:
            for program in self.programs:
                if program.poll() is not None:
                    raise RuntimeError(f"a program has ended: {open(program.log).read()[-2000:]}")
            if time.monotonic() > end:
                raise TimeoutError(
                    f"{self.published} of {count} were published within {within} s; {self.whereabouts()}"
                )
            messages = self.watcher.consume(2000, 0.1)
            for message in messages:
                if message.error() is not None:
                    raise RuntimeError(f"the topics cannot be read: {message.error()}")
            self.published += len(messages)
            if messages:
                quiet = time.monotonic()
            elif time.monotonic() > quiet + 5:
                # Some may have been passed over: broker.sh says how.
                self.watcher.close()
                self.watch()
                quiet = time.monotonic()
        return self.published

    def watch(self):
        """Begins to count what is published, from the topics' beginning."""
        self.watcher = Consumer({
            "bootstrap.servers": self.kafka, "group.id": self.name + ".watcher", "enable.auto.commit": False,
            "fetch.wait.max.ms": 100, "fetch.min.bytes": 65_536,
            # A place that the broker refuses is an error, not the end of the topic.
            "auto.offset.reset": "error",
        })
        self.watcher.assign([
            TopicPartition(self.topic(name), partition, 0)
            for name in (DELIVERIES, DEAD_LETTERS) for partition in range(PARTITIONS)
        ])
        self.published = 0

    def whereabouts(self):
        """How many requests got how far, for when some do not arrive."""
        with self.database() as database:
            counts = database.execute(
                "SELECT (SELECT count(*) FROM courier.request), (SELECT count(*) FROM courier.outbox),"
                " (SELECT count(*) FROM courier.send WHERE lease_until IS NOT NULL AND state IN"
                " ('pending', 'claimed', 'dispatching'))"
            ).fetchone()
        return "request ids {:,}, records in the outbox {:,}, sends under way {:,}".format(*counts)

    def arrivals(self):
        """The number and the moment (µs since 1970) of each message that came to the provider since the last time."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.provider_port}/arrivals") as answer:
            lines = answer.read().decode().splitlines()
        return [(number, int(moment)) for number, moment in (line.split() for line in lines)]

    def make_old_rows(self, count):
        """What so many rows' worth of yesterday's requests have left: six rows each."""
        with self.database() as database:
            for statement in OLD_ROWS.split(";\n"):
                database.execute(statement.replace("$requests", str(count // 6)))
            database.execute("CHECKPOINT")

    def start(self, command, environment=None):
        log = open(f"{self.folder}/{len(self.programs)}.log", "w")
        program = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, env=os.environ | (environment or {})
        )
        program.log = log.name
        self.programs.append(program)
        return program

    def start_worker(self):
        return self.start([self.parts.program, "run", "--config", self.configuration], {"LOG_LEVEL": "info"})

    def stop(self, program):
        program.send_signal(signal.SIGTERM)
        program.wait(40)
        self.programs.remove(program)
