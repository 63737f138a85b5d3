#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The benchmark of the worker on a real Apache Kafka: JSON lines on stdout, the last one a summary; progress on stderr.

    bench.py [--peer PATH] [--requests 60000] [--runs 3] [--only NAME,NAME] [--rate 200] [--old-rows 10000000]
        [--batch-size 500] [--max-in-flight 1024]

A round measures one after the other, with the same load: worker (code-courier), batched and usual (the Go workers of
--peer), python (the usual Python worker), ceiling (the worker's SQL by a bare loop), two (two workers), and latency
(--rate requests a second: the worker and the usual Go worker). Before the rounds comes backlog (memory with a million
requests waiting), after them micro (the steps of one request) and old (tables with old rows). `two` and `old` run only
if --only names them: without them a run takes less than 10 minutes on two cores.

Figures of the summary are medians of the rounds, ratios those of the ratios in each round; null is what was not
measured. ratio_X: requests a second, the worker's divided by those of X. box_ratio_batched: processor time of the whole
machine a request, the worker's divided by batched's. wal_bytes: WAL a request. rss_mb: the most memory of a worker in
any part. p50_ms and p99_ms: from the record to the event at a reader; provider_*: to the provider; peer_*: the usual Go
worker's. Run by deploy/local/bench.sh, which starts what it needs and names it in COURIER_BENCH_*.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import latency
import machine
import psycopg
import throughput
from arena import Arena, Failure
from confluent_kafka import KafkaException
from contestants import CodeCourier, GoPeer, PythonPeer, output
from figures import broken_gates, figures_of, medians
from load import Load

DEFAULT_PARTS = ("worker", "batched", "usual", "python", "ceiling", "latency", "micro", "backlog")
PARTS = (*DEFAULT_PARTS, "two", "old")
NEED_PEER = {"batched", "usual"}
WAITING = 1_000_000
WARM_UP_SECONDS = 40


def say(text):
    print(text, file=sys.stderr, flush=True)


def tell(name, figures):
    print(json.dumps({"benchmark": name} | figures), flush=True)
    return figures


def measure_round(parts, only, seed):
    """One after the other on the machine as it is now, so that what is compared was measured at one time.

    The load's seed differs between rounds, so that no run has what another one has left in a cache.
    """
    load = Load(seed)
    records = load.take(parts.requests)
    results = {}

    def run(name, contestant, workers=1):
        results[name] = tell(name, throughput.measure(parts, contestant, records, load.kinds, workers))

    if "worker" in only:
        run("worker", CodeCourier(parts))
    for mode in ("batched", "usual"):
        if mode in only:
            run(mode, GoPeer(parts, mode))
    if "python" in only:
        run("python", PythonPeer(parts))
    if "two" in only:
        run("two_workers", CodeCourier(parts), workers=2)
    if "ceiling" in only:
        results["ceiling"] = tell("ceiling", ceiling(parts))
    if "latency" in only:
        results["latency"] = tell("latency", latency.measure(parts, CodeCourier(parts), seed, parts.rate))
        if parts.peer:
            usual = latency.measure(parts, GoPeer(parts, "usual"), seed, parts.rate)
            results["usual_latency"] = tell("usual_latency", usual)
    return figures_of(results)


def ceiling(parts):
    with Arena(parts, CodeCourier(parts)) as arena:
        before = machine.tree(parts.postgres_process)
        lines = output([
            parts.benchmarks, "ceiling", "--postgres-url", arena.url, "--requests", str(parts.requests),
            "--batch-size", str(parts.batch_size),
        ])
        spent = machine.tree(parts.postgres_process) - before
        figures = json.loads(lines.splitlines()[-1])
        return figures | {"postgres_cpu_us": round(spent / figures["requests"], 1)}


def micro(parts):
    """The steps of one request: their ns and allocations by name, and the complaint about one that makes too many."""
    done = subprocess.run([parts.benchmarks, "micro"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    figures = {}
    for line in done.stdout.splitlines():
        step = json.loads(line)
        figures[step.pop("benchmark")] = step
    return tell("micro", figures), done.stderr.strip() if done.returncode else None


def backlog(parts):
    """The memory of a worker while a million requests wait."""
    with Arena(parts, CodeCourier(parts)) as arena:
        load = Load(9)
        for _ in range(WAITING // 50_000):
            arena.produce(load.take(50_000))
        program = arena.start_contestant()
        arena.wait_for(1000, 120)
        # The client's queues fill up in this time; nothing reports when they are full.
        time.sleep(20)
        return {"waiting": WAITING, "rss_mb": round(machine.resident(program.pid))}


def old_rows(parts):
    """The worker's rate on tables with old rows, as a part of that on empty ones just before."""
    load = Load(1)
    records = load.take(parts.requests)
    fresh = throughput.measure(parts, CodeCourier(parts), records, load.kinds)
    say(f"making {parts.old_rows:,} old rows")
    old = throughput.measure(parts, CodeCourier(parts, parts.old_rows), records, load.kinds)
    ratio = round(old["requests_per_second"] / fresh["requests_per_second"], 2)
    return old | {"old_rows": parts.old_rows, "ratio": ratio}


def warm_up(parts):
    """Has Kafka compile what it runs: the first contestants would pay for it, four times its cost a request."""
    say(f"warming up Kafka for {WARM_UP_SECONDS} s")
    end, seed = time.monotonic() + WARM_UP_SECONDS, 100
    while time.monotonic() < end:
        load, seed = Load(seed), seed + 1
        records = load.take(parts.requests)
        say(f"    {throughput.measure(parts, CodeCourier(parts), records, load.kinds)}")


def summarize(parts, only, runs):
    """Runs all parts; returns the summary and what is wrong with it."""
    begin = time.monotonic()
    # First, for it warms up Kafka, too.
    waiting = tell("backlog", backlog(parts)) if "backlog" in only else None
    warm_up(parts)
    rounds = []
    for number in range(1, runs + 1):
        say(f"round {number} of {runs}")
        rounds.append(measure_round(parts, only, number))
    summary = medians(rounds)
    complaints = broken_gates(summary)
    if "micro" in only:
        summary["micro"], complaint = micro(parts)
        complaints += [complaint] if complaint else []
    if waiting:
        summary["backlog_rss_mb"] = waiting["rss_mb"]
        summary["rss_mb"] = max(summary["rss_mb"] or 0, waiting["rss_mb"])
    if "old" in only:
        result = tell("old_rows", old_rows(parts))
        summary |= {"old_rows_rps": result["requests_per_second"], "ratio_old_rows": result["ratio"]}
    return summary | {"rounds": runs, "minutes": round((time.monotonic() - begin) / 60, 1)}, complaints


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", metavar="PATH", help="the program go-peers, for batched, usual and peer_*")
    parser.add_argument("--requests", type=int, default=60_000, help="how many wait for each contestant")
    parser.add_argument("--runs", type=int, default=3, help="rounds")
    parser.add_argument("--only", default=",".join(DEFAULT_PARTS), help="parts, of " + ",".join(PARTS))
    parser.add_argument("--rate", type=int, default=200, help="requests a second for latency")
    parser.add_argument("--old-rows", type=int, default=10_000_000)
    parser.add_argument("--batch-size", type=int, default=500, help="worker.batchSize, and that of the ceiling")
    parser.add_argument("--max-in-flight", type=int, default=1024, help="worker.maxInFlight")
    parser.add_argument("--check", action="store_true", help="check the options and measure nothing")
    given = parser.parse_args()
    only = set(given.only.split(","))
    if only - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(only - set(PARTS)))}; there are {', '.join(PARTS)}")
    if given.peer and not (os.path.isfile(given.peer) and os.access(given.peer, os.X_OK)):
        parser.error(f"--peer {given.peer} is no program: name the file go-peers, relative to the repository or whole")
    if not given.peer and only & (NEED_PEER | {"latency"}):
        say("The Go workers are not measured, and their figures are null: name the program go-peers by --peer PATH")
    return given, only if given.peer else only - NEED_PEER


def main():
    given, only = arguments()
    if given.check:
        return
    parts = SimpleNamespace(
        peer=given.peer and os.path.abspath(given.peer),
        requests=given.requests,
        rate=given.rate,
        old_rows=given.old_rows,
        batch_size=given.batch_size,
        max_in_flight=given.max_in_flight,
        program=os.environ["COURIER_BENCH_PROGRAM"],
        benchmarks=os.environ["COURIER_BENCH_PARTS"],
        kafka=os.environ["COURIER_BENCH_KAFKA"],
        kafka_process=int(os.environ["COURIER_BENCH_KAFKA_PROCESS"]),
        postgres=os.environ["COURIER_BENCH_POSTGRES_URL"],
        postgres_process=int(os.environ["COURIER_BENCH_POSTGRES_PROCESS"]),
    )
    # bench.sh passes every signal on as this one, which a shell has its background jobs ignore.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        summary, complaints = summarize(parts, only, given.runs)
    except (Failure, psycopg.Error, KafkaException) as failure:
        sys.exit(f"error: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)
    for complaint in complaints:
        say(f"gate broken: {complaint}")
    tell("summary", summary)
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
