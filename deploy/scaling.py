#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes what rates of requests need, from the measured inputs in docs/scaling.md, and writes its tables.

    deploy/scaling.py            writes the tables anew
    deploy/scaling.py --check    fails when they do not follow from the inputs, or the inputs are not those measured
"""
import math
import pathlib
import re
import sys

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "scaling.md"
MEASURED = PAGE.with_name("performance.md")
RATES = [1_000, 10_000, 100_000]
PARTITIONS = [6, 12, 24, 48, 96, 192, 384, 768]
DAY = 86_400
# Partitions of a day are dropped whole, a day and an hour after their end.
KEPT = 2 * DAY + 3600


def section(text, name):
    match = re.search(rf"<!-- {name} -->\n(.*?)<!-- end {name} -->", text, re.S)
    if not match:
        sys.exit(f"{PAGE}: there is no section {name}")
    return match


def read_inputs(text):
    """The second column of the inputs by the name in backquotes in the first."""
    rows = re.findall(r"^\| `(\w+)`[^|]*\| ([\d.,]+) ", section(text, "inputs")[1], re.M)
    return {name: float(value.replace(",", "")) for name, value in rows}


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
        "cells, each with a primary of its own": f"{cells:,}",
        "workers of each cell": f"{workers:,}",
        "cores of workers, at full use": number(rate * i["worker_cpu_us"] / 1e6),
        "partitions of each cell's requests and receipts": next((f"{p:,}" for p in PARTITIONS if p >= 2 * workers), "more"),
        "cores of PostgreSQL, at full use": number(rate * postgres_cpu_us(i) / 1e6),
        "connections to each primary": f"{math.ceil(workers * i['pool_size']):,}",
        "WAL, all cells": f"{number(rate * i['wal_bytes'] / 1e6)} MB/s, {size(rate * i['wal_bytes'] * DAY)} a day",
        "rows kept, all cells": size(rows),
        "Kafka, in and out, without replicas": f"{number(kafka / 1e6)} MB/s",
        "workers to PostgreSQL and back": f"{number(rate * i['postgres_wire_bytes'] / 1e6)} MB/s",
        "workers to providers and back": f"{number(rate * i['provider_wire_bytes'] / 1e6)} MB/s",
        "connections to providers": f"{math.ceil(rate * i['provider_latency_ms'] / 1000):,}",
        "provider accounts": f"{math.ceil(rate / i['provider_rate']):,}",
        "verifier's calls to each primary": f"{math.ceil(2 * rate * i['checks'] / cells):,}/s",
    }


def limits(i):
    """How much one of each can take, the first to break first."""
    load = i["load"] / 100
    units = {
        "one account at a provider": (i["provider_rate"], "more accounts and routes by weight; nothing of ours helps"),
        "one worker's cores": (i["worker_cores"] * load * 1e6 / i["worker_cpu_us"], "more workers"),
        "one worker's sends under way": (
            i["in_flight"] * load / (i["provider_latency_ms"] / 1000), "`worker.maxInFlight`, or more workers",
        ),
        "one primary's cores": (i["postgres_cores"] * load * 1e6 / postgres_cpu_us(i), "more cells"),
        "one primary's WAL": (i["wal_mb_per_s"] * 1e6 / i["wal_bytes"], "more cells, or a faster disk"),
        "one primary's disk": (i["disk_tb"] * 1e12 * load / (i["row_bytes"] * KEPT), "more cells, or a larger disk"),
    }
    first = min(rate for name, (rate, _) in units.items() if "primary" in name)
    units["all 256 cells that ids can name"] = (256 * first, "larger primaries")
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
    inputs = read_inputs(text)
    new = text
    for name, table in [("results", results(inputs)), ("breaking", breaking(inputs))]:
        match = section(new, name)
        new = new[: match.start(1)] + table + new[match.end(1):]
    if "--check" in sys.argv[1:]:
        for name, value in read_measured(MEASURED.read_text()).items():
            if inputs[name] != value:
                sys.exit(f"{PAGE.name}: {name} is {inputs[name]:g} where {MEASURED.name} measured {value:g}")
        if new != text:
            sys.exit(f"{PAGE.name}: its tables do not follow from its inputs; run deploy/scaling.py")
    else:
        PAGE.write_text(new)


if __name__ == "__main__":
    main()
