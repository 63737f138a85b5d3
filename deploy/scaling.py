#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes what rates of requests need, from the inputs below, and writes the tables of docs/scaling.md.

    deploy/scaling.py            writes the tables anew
    deploy/scaling.py --check    fails when they do not follow from the inputs, or the inputs are not those measured
"""
import math
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "scaling.md"
MEASURED = PAGE.with_name("performance.md")
# A request is sent once, delivered and guessed once. WAL and rows are measured on PostgreSQL 15 through the ledger alone,
# with 3,000 requests in batches of 250, each of another person and address, and a limit per recipient, address and
# tenant. Page images after a checkpoint and the outbox, whose rows live for milliseconds, are left out.
INPUTS = {
    # `make bench`, as docs/performance.md has it: the CPU time of a request without its receipt.
    "worker_cpu_us": 78,
    "postgres_cpu_us": 45,
    # Receipt and guess; estimated by their WAL: 1.0 kB against 2.0 kB.
    "postgres_settling_cpu_us": 22,
    # Intake 1.3 kB, mark 0.1 kB, outcome 0.6 kB, receipt 0.5 kB, guess 0.5 kB, publishing 10 bytes.
    "wal_bytes": 3000,
    # Heap and indexes until the partitions drop: `verification` 0.75 kB, `send` 0.4 kB, `person`, `request` and
    # `limit_window` 0.15 to 0.2 kB each, `message` 0.1 kB, with old versions before a vacuum.
    "row_bytes": 1800,
    # Kafka records, from the examples; an event with its headers. A request has two events: `sent`, `delivered`.
    "request_bytes": 500,
    "receipt_bytes": 300,
    "event_bytes": 1100,
    "events": 2,
    # Assumed: a provider's call, and one account's rate.
    "provider_latency_ms": 200,
    "provider_rate": 400,
    # A worker: cores, `worker.maxInFlight`.
    "worker_cores": 2,
    "in_flight": 1024,
    # A primary: cores, the rate of its disk and its standby, the size of its disk.
    "postgres_cores": 16,
    "wal_mb_per_s": 200,
    "disk_tb": 4,
    # Planned use in percent; the rest is for peaks and failures.
    "load": 60,
}
RATES = [1_000, 10_000, 100_000]
DAY = 86_400
# Partitions of a day are dropped whole, a day and an hour after their end.
KEPT = 2 * DAY + 3600


def section(text, name):
    match = re.search(rf"<!-- {name} -->\n(.*?)<!-- end {name} -->", text, re.S)
    if not match:
        sys.exit(f"{PAGE}: there is no section {name}")
    return match


def read_measured(text):
    """The processor time of a request, as performance.md has it."""
    row = re.search(r"^\| processor time of a request: worker, PostgreSQL \| ([\d,]+) µs, ([\d,]+) µs \|", text, re.M)
    if not row:
        sys.exit(f"{MEASURED}: there is no processor time of a request")
    return dict(zip(("worker_cpu_us", "postgres_cpu_us"), (float(value.replace(",", "")) for value in row.groups())))


def postgres_cpu_us(i):
    return i["postgres_cpu_us"] + i["postgres_settling_cpu_us"]


def need(rate, i):
    """What one rate of requests, held for long, needs; a dictionary by the row of the table."""
    load = i["load"] / 100
    workers = max(
        rate * i["worker_cpu_us"] / 1e6 / (i["worker_cores"] * load),
        rate * i["provider_latency_ms"] / 1000 / (i["in_flight"] * load),
    )
    rows = rate * i["row_bytes"] * KEPT
    cells = math.ceil(
        max(
            rate * postgres_cpu_us(i) / 1e6 / (i["postgres_cores"] * load),
            rate * i["wal_bytes"] / 1e6 / i["wal_mb_per_s"],
            rows / (i["disk_tb"] * 1e12 * load),
        )
    )
    workers = max(2, math.ceil(workers / cells))
    kafka = rate * (i["request_bytes"] + i["receipt_bytes"] + i["events"] * i["event_bytes"])
    return {
        "cells": f"{cells:,}",
        "workers of each cell": f"{workers:,}",
        "cores of workers": number(rate * i["worker_cpu_us"] / 1e6),
        "cores of PostgreSQL": number(rate * postgres_cpu_us(i) / 1e6),
        "WAL": f"{number(rate * i['wal_bytes'] / 1e6)} MB/s",
        "rows kept": size(rows),
        "Kafka without replicas": f"{number(kafka / 1e6)} MB/s",
        "provider accounts": f"{math.ceil(rate / i['provider_rate']):,}",
    }


def limits(i):
    """How much one of each can take, the first to break first."""
    load = i["load"] / 100
    units = {
        "one account at a provider": (i["provider_rate"], "more accounts"),
        "one worker's cores": (i["worker_cores"] * load * 1e6 / i["worker_cpu_us"], "more workers"),
        "one worker's sends in flight": (
            i["in_flight"] * load / (i["provider_latency_ms"] / 1000), "`worker.maxInFlight`, more workers",
        ),
        "one primary's cores": (i["postgres_cores"] * load * 1e6 / postgres_cpu_us(i), "more cells"),
        "one primary's WAL": (i["wal_mb_per_s"] * 1e6 / i["wal_bytes"], "a faster disk"),
        "one primary's disk": (i["disk_tb"] * 1e12 * load / (i["row_bytes"] * KEPT), "a larger disk"),
    }
    return sorted(((rate, name, cure) for name, (rate, cure) in units.items()))


def number(value):
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def size(value):
    for unit in ["B", "kB", "MB", "GB", "TB"]:
        if value < 1000 or unit == "TB":
            return f"{number(value)} {unit}"
        value /= 1000


def results(i):
    columns = [need(rate, i) for rate in RATES]
    lines = ["| | " + " | ".join(f"{rate:,}/s" for rate in RATES) + " |", "|---|" + "---|" * len(RATES)]
    lines += [f"| {name} | " + " | ".join(column[name] for column in columns) + " |" for name in columns[0]]
    return "\n".join(lines) + "\n"


def breaking(i):
    lines = ["| what | breaks above | what helps |", "|---|---|---|"]
    lines += [f"| {name} | {rate:,.0f}/s | {cure} |" for rate, name, cure in limits(i)]
    return "\n".join(lines) + "\n"


def main():
    text = PAGE.read_text()
    new = text
    for name, table in [("results", results(INPUTS)), ("breaking", breaking(INPUTS))]:
        match = section(new, name)
        new = new[: match.start(1)] + table + new[match.end(1):]
    if "--check" in sys.argv[1:]:
        for name, value in read_measured(MEASURED.read_text()).items():
            if INPUTS[name] != value:
                sys.exit(f"{name} is {INPUTS[name]:g} where {MEASURED.name} measured {value:g}")
        if new != text:
            sys.exit(f"{PAGE.name}: its tables do not follow from its inputs; run deploy/scaling.py")
    else:
        PAGE.write_text(new)


if __name__ == "__main__":
    main()
