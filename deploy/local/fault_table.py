#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a fault report as the table of docs/guarantees.md: what was tried, how often, and what came out.

Counts of broken promises that are 0 in every row are one line below the table instead of columns.
"""

import json
import sys

# What one fault of a scenario is.
FAULTS = {
    "kill": "kill -9 of a worker under load",
    "kill_resend_once": "the same with `resend_once`",
    "steps": "death at a named step of a request or receipt",
    "syscalls": "death at a system call of a request",
    "stalls": "a stage that stands still, until the watchdog ends its worker",
    "pause": "SIGSTOP for longer than a claim lasts",
    "shutdown": "SIGTERM at a random moment",
    "shutdown_twice": "a second SIGTERM",
    "clock": "a worker's clock ten minutes off",
    "redelivery": "a worker comes and goes, every record 1–5 times",
    "commits_refused": "a refused offset commit during rebalances",
    "postgres_crash": "PostgreSQL restarted in immediate mode",
    "postgres_connections": "PostgreSQL out of connections",
    "postgres_disk_full": "PostgreSQL's disk full",
    "postgres_silent": "PostgreSQL silent with connections open",
    "commit_cut": "a connection cut around COMMIT",
    "broker_down": "no broker while accepted sends go out",
    "coordinator_moves": "the group's coordinator moves",
    "produce_errors": "events refused by the broker",
    "queue_full": "the producer's queue full",
    "provider_503": "a call that is refused with 503",
    "provider_429": "429 with a time to wait",
    "provider_hangs": "an answer that never comes, drips or never ends",
    "provider_cut": "a call cut before or after it is taken",
    "provider_cut_resend_once": "the same with `resend_once`",
    "late": "a request past its time",
    "replay": "an old record read again",
    "offsets_reset": "offsets lost, the whole topic again",
    "hostile_requests": "a hostile request",
    "hostile_receipts": "a hostile receipt",
    "backlog": "a backlog, with a provider at 10/s",
}
COUNTS = {
    "faults": "tried",
    "requests": "requests",
    "lost": "lost",
    "duplicate_sms": "duplicate SMS",
    "unknown": "unknown",
    "stale_writes": "stale writes",
    "violations": "violations",
}
BROKEN = ("lost", "stale_writes", "violations")

sums: dict[str, dict[str, int]] = {}
with open(sys.argv[1], encoding="utf-8") as report:
    for line in filter(str.strip, report):
        scenario = json.loads(line)
        if scenario["scenario"] == "summary":
            continue
        counts = sums.setdefault(scenario["scenario"], dict.fromkeys(COUNTS, 0))
        for count in COUNTS:
            counts[count] += int(scenario[count])

zero = [count for count in BROKEN if not any(row[count] for row in sums.values())]
columns = [count for count in COUNTS if count not in zero]
print("| fault |", " | ".join(COUNTS[count] for count in columns), "|")
print("|---|" + "---:|" * len(columns))
order = list(FAULTS)
for name in sorted(sums, key=lambda name: order.index(name) if name in order else len(order)):
    cells = [f"{sums[name][count]:,}" for count in columns]
    print(f"| {FAULTS.get(name, name)} | {' | '.join(cells)} |")
if zero:
    print(f"\n0 in each row: {', '.join(COUNTS[count] for count in zero)}.")
