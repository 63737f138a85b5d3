#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a fault report as the table of docs/guarantees.md: what was tried, how often, and what came out.

Lines below the table sum up the requests, and name the scenarios with a broken promise or a duplicate.
"""

import json
import sys

# The description of a scenario's fault.
FAULTS = {
    "kill": "kill -9 under load",
    "kill_resend_once": "the same with resend_once",
    "steps": "death at a named step",
    "syscalls": "death at a system call",
    "stalls": "stalled stage, ended by the watchdog",
    "pause": "SIGSTOP beyond the lease",
    "shutdown": "SIGTERM at random",
    "shutdown_twice": "second SIGTERM",
    "clock": "clock 10 min off",
    "redelivery": "rebalances, each record 1–5 times",
    "commits_refused": "refused offset commit, rebalances",
    "postgres_crash": "PostgreSQL's immediate restart",
    "postgres_connections": "PostgreSQL out of connections",
    "postgres_disk_full": "PostgreSQL's disk full",
    "postgres_silent": "PostgreSQL silent, connections open",
    "commit_cut": "connection cut around COMMIT",
    "broker_down": "no broker during sends",
    "coordinator_moves": "group coordinator moves",
    "produce_errors": "broker refuses events",
    "queue_full": "producer's queue full",
    "provider_503": "call refused with 503",
    "provider_429": "429 with Retry-After",
    "provider_hangs": "answer that never comes, drips or never ends",
    "provider_cut": "call cut before or after it is taken",
    "provider_cut_resend_once": "the same with resend_once",
    "late": "request past its time",
    "replay": "old record read again",
    "offsets_reset": "offsets lost, topic read again",
    "hostile_requests": "hostile request",
    "hostile_receipts": "hostile receipt",
    "backlog": "backlog, provider at 10/s",
}
COLUMNS = {"faults": "tried", "unknown": "unknown"}
BELOW = {"lost": "lost", "stale_writes": "stale writes", "violations": "violations", "duplicate_sms": "duplicate SMS"}
COUNTS = ("requests", *COLUMNS, *BELOW)

sums: dict[str, dict[str, int]] = {}
with open(sys.argv[1], encoding="utf-8") as report:
    for line in filter(str.strip, report):
        scenario = json.loads(line)
        if scenario["scenario"] == "summary":
            continue
        counts = sums.setdefault(scenario["scenario"], dict.fromkeys(COUNTS, 0))
        for count in COUNTS:
            counts[count] += int(scenario[count])

order = list(FAULTS)
names = sorted(sums, key=lambda name: order.index(name) if name in order else len(order))
titles = {name: FAULTS.get(name, name) for name in names}
width = max(map(len, titles.values()), default=0)
print(f"{'fault':{width}}", *(f"{title:>9}" for title in COLUMNS.values()))
for name in names:
    print(f"{titles[name]:{width}}", *(f"{sums[name][count]:>9,}" for count in COLUMNS))

print(f"\nrequests: {sum(row['requests'] for row in sums.values()):,}")
for count, title in BELOW.items():
    rows = [f"{row[count]:,} ({name})" for name, row in sums.items() if row[count]]
    print(f"{title}: {', '.join(rows) or 0}")
