# SPDX-License-Identifier: Apache-2.0
"""The programs that are measured: how each one's tables are made, and by which command it runs."""

import base64
import os
import subprocess
import sys

from arena import DEAD_LETTERS, DELIVERIES, REQUESTS, Failure

HERE = os.path.dirname(os.path.abspath(__file__))

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
  bootstrapServers: "{parts.kafka}"
  groupId: "{name}"
  topics: {{ requests: "{name}.requests", receipts: "{name}.receipts", deliveries: "{name}.deliveries",
    deadLetters: "{name}.dead-letters" }}
postgres: {{ url: "{url}" }}
worker: {{ batchSize: {parts.batch_size}, maxInFlight: {parts.max_in_flight} }}
policy: {{ path: "{folder}/policy.yaml" }}
providers:
  - {{ name: main, kind: twilio, baseURL: "http://127.0.0.1:{provider}", accountSid: ACbench, authToken: t, from: Acme }}
keys: {{ code: "{keys[0]}", hash: "{keys[1]}", fingerprint: "{keys[2]}", seal: "{keys[3]}" }}
"""


def output(command, **variables):
    """The output of a short command; throws its error output when it fails."""
    environment = os.environ | variables
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command[:2])} ended with code {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


class CodeCourier:
    """The worker of this repository, with old rows in its tables if told so."""

    name = "code-courier"

    def __init__(self, parts, old_rows=0):
        self.parts, self.old_rows = parts, old_rows

    def prepare(self, arena):
        output([self.parts.program, "migrate"], POSTGRES_URL=arena.url)
        keys = ["1:" + base64.b64encode(bytes([byte] * 32)).decode() for byte in range(1, 5)]
        with open(f"{arena.folder}/policy.yaml", "w") as file:
            file.write(POLICY)
        with open(f"{arena.folder}/courier.yaml", "w") as file:
            file.write(CONFIGURATION.format(
                name=arena.name, url=arena.url, folder=arena.folder, provider=arena.provider_port, keys=keys,
                parts=self.parts,
            ))
        if self.old_rows:
            self.make_old_rows(arena)

    def make_old_rows(self, arena):
        with open(f"{HERE}/old_rows.sql") as file, arena.database() as database:
            # A request of the day before has left six rows.
            database.execute(file.read().replace("$requests", str(self.old_rows // 6)))

    def command(self, arena):
        return [self.parts.program, "run", "--config", f"{arena.folder}/courier.yaml"]


class GoPeer:
    """A Go worker in tables of its own: `usual` has a goroutine a message, `batched` works by batches."""

    def __init__(self, parts, mode):
        self.program, self.mode, self.name = parts.peer, mode, f"go-peers -mode {mode}"

    def prepare(self, arena):
        with arena.database() as database:
            database.execute(output([self.program, "schema"]))

    def command(self, arena):
        return [
            self.program, "-mode", self.mode, "-kafka", arena.parts.kafka, "-postgres", arena.url,
            "-provider", f"127.0.0.1:{arena.provider_port}", "-group", arena.name,
            "-requests", arena.topic(REQUESTS), "-deliveries", arena.topic(DELIVERIES),
            "-dead-letters", arena.topic(DEAD_LETTERS),
        ]


class PythonPeer:
    """The usual Python worker, in the tables of code-courier."""

    name = "peer.py"

    def __init__(self, parts):
        self.program = parts.program

    def prepare(self, arena):
        output([self.program, "migrate"], POSTGRES_URL=arena.url)

    def command(self, arena):
        return [
            sys.executable, f"{HERE}/peer.py", arena.name, arena.parts.kafka, arena.url, str(arena.provider_port)
        ]
