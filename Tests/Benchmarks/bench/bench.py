#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The benchmark of the worker: JSON lines on stdout, the last one a summary; progress on stderr.

    bench.py [--requests 200000] [--runs 3] [--old-rows 10000000] [--only NAME,NAME]
        [--batch-size 500] [--max-in-flight 1024]

Parts: worker (fresh tables), old (tables with old rows), two (two workers), peer (the usual Python worker), ceiling (the
same SQL by a bare loop), latency (200 requests/s), backlog (a million requests waiting). Run by deploy/local/bench.sh,
which starts what it needs and names it in COURIER_BENCH_*.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import machine
from arena import DELIVERIES, PARTITIONS, REQUESTS, Arena
from confluent_kafka import Consumer, Producer, TopicPartition
from load import Load

HERE = os.path.dirname(os.path.abspath(__file__))
WARM_UP = 0.1

# What a request may cost, in the processor time that PostgreSQL needs for the SQL alone: a multiple, because the same
# work takes twice as long on another machine, or on this one at another hour. Never wall time.
GATES = {"ratio_worker_cpu": 2.0, "ratio_postgres_cpu": 1.7}


def say(text):
    print(text, file=sys.stderr, flush=True)


def tell(**figures):
    print(json.dumps(figures), flush=True)
    return figures


def costs(parts, arena, programs):
    return {
        "worker": sum(machine.own(program.pid) for program in programs),
        "postgres": machine.tree(parts.postgres_process),
        "broker": machine.own(arena.broker_process),
        "provider": machine.own(arena.provider.pid),
        "box": machine.box(),
    }


def drive(parts, arena, start, count, name, seed):
    """Fills the topic, starts the workers and measures from the end of the warm-up to the last request but few.

    The very last events may wait for a sweep, which is no matter of throughput: the window ends at 99 %.
    """
    load = Load(seed)
    arena.produce(load.take(count))
    programs = start()
    begin = arena.wait_for(int(count * WARM_UP), 120)
    started, before = time.monotonic(), costs(parts, arena, programs)
    end = arena.wait_for(int(count * 0.99), 900)
    seconds, after = time.monotonic() - started, costs(parts, arena, programs)
    arena.wait_for(count, 120)
    # On a slow machine a repeat may come after the window in which it gets no message.
    arrived, new, repeated = len(arena.arrivals()), load.kinds["new"], load.kinds["repeated"]
    if not new <= arrived <= new + repeated:
        raise RuntimeError(f"{arrived} messages came to the provider, for {new} new requests")
    done = end - begin
    per_request = {kind: round((after[kind] - before[kind]) / done, 1) for kind in before}
    return tell(
        benchmark=name, requests=done, seconds=round(seconds, 2), requests_per_second=round(done / seconds),
        worker_cpu_us=per_request["worker"], postgres_cpu_us=per_request["postgres"],
        broker_cpu_us=per_request["broker"], provider_cpu_us=per_request["provider"], box_us=per_request["box"],
        rss_mb=round(max(machine.resident(program.pid) for program in programs)), **load.kinds,
    )


def worker(parts, name="worker", workers=1, old_rows=0, seed=1):
    with Arena(parts) as arena:
        if old_rows:
            say(f"making {old_rows:,} old rows")
            arena.make_old_rows(old_rows)
        return drive(
            parts, arena, lambda: [arena.start_worker() for _ in range(workers)], parts.requests, name, seed
        )


def peer(parts, seed=1):
    with Arena(parts) as arena:
        command = [
            sys.executable, f"{HERE}/peer.py", arena.name, arena.kafka, arena.url, str(arena.provider_port)
        ]
        return drive(parts, arena, lambda: [arena.start(command)], max(10_000, parts.requests // 10), "peer", seed)


def ceiling(parts):
    with Arena(parts) as arena:
        before = machine.tree(parts.postgres_process), machine.box()
        output = subprocess.run(
            [
                parts.benchmarks, "ceiling", "--postgres-url", arena.url, "--requests", str(parts.requests),
                "--batch-size", str(parts.batch_size),
            ],
            check=True, capture_output=True, text=True,
        ).stdout
        after = machine.tree(parts.postgres_process), machine.box()
        figures = json.loads(output.splitlines()[-1])
        return tell(**figures, postgres_cpu_us=round((after[0] - before[0]) / figures["requests"], 1))


def latency(parts, rate=200, seconds=20):
    """From a record's way to the broker to the provider's first byte, and to its event at a consumer."""
    with Arena(parts, fetch_wait=10) as arena:
        arena.start_worker()
        load, sent, asked, seen = Load(7), {}, {}, {}
        arena.produce(load.take(2000))
        arena.wait_for(2000, 60)
        arena.arrivals()
        ready, done = threading.Event(), threading.Event()
        reader = threading.Thread(target=read_events, args=(arena, seen, ready, done))
        reader.start()
        producer = Producer({"bootstrap.servers": arena.kafka, "linger.ms": 0, "acks": "all"})
        producer.list_topics(arena.topic(REQUESTS), 30)
        if not ready.wait(30):
            raise TimeoutError("the reader has no partitions within 30 s")
        begin = time.time()
        for place in range(rate * seconds):
            key, value, headers = load.one()
            # The pace of the requests, however long the one before took.
            time.sleep(max(0, begin + place / rate - time.time()))
            request = None if key == b"?" else json.loads(value)["requestId"]
            sent.setdefault(request, time.time())
            # Of a person's requests the first one is sent.
            asked.setdefault(key.decode().lstrip("+"), sent[request])
            producer.produce(arena.topic(REQUESTS), value, key, headers=headers)
            producer.poll(0)
        producer.flush(30)
        arena.wait_for(2000 + rate * seconds, 60)
        done.set()
        reader.join()
        arrived = {}
        for number, moment in arena.arrivals():
            arrived.setdefault(number, moment / 1e6)
        sent.pop(None, None)
        to_provider = [arrived[number] - at for number, at in asked.items() if arrived.get(number, 0) > at]
        to_event = [seen[request] - at for request, at in sent.items() if seen.get(request, 0) > at]
        return tell(
            benchmark="latency", rate=rate, sent=len(to_provider), events=len(to_event),
            **percentiles("provider", to_provider), **percentiles("event", to_event),
        )


def read_events(arena, seen, ready, done):
    consumer = Consumer({
        "bootstrap.servers": arena.kafka, "group.id": arena.name + ".reader", "fetch.wait.max.ms": 10,
        "enable.auto.commit": False,
    })
    places = []
    for partition in range(PARTITIONS):
        place = TopicPartition(arena.topic(DELIVERIES), partition)
        place.offset = consumer.get_watermark_offsets(place, timeout=10)[1]
        places.append(place)
    consumer.assign(places)
    ready.set()
    message = None
    while message is not None or not done.is_set():
        message = consumer.poll(0.1)
        if message is not None and message.error() is None:
            seen.setdefault(json.loads(message.value())["requestId"], time.time())
    consumer.close()


def percentiles(name, times):
    cuts = statistics.quantiles([1000 * moment for moment in times], n=1000)
    return {
        f"{name}_p50_ms": round(cuts[499], 1), f"{name}_p90_ms": round(cuts[899], 1),
        f"{name}_p99_ms": round(cuts[989], 1),
    }


def backlog(parts, waiting=1_000_000):
    """What a worker holds in memory while a million requests wait."""
    with Arena(parts) as arena:
        load = Load(9)
        for _ in range(waiting // 50_000):
            arena.produce(load.take(50_000))
        program = arena.start_worker()
        arena.wait_for(1000, 120)
        # The time in which the client's queues fill as far as they ever do, of which nothing tells.
        time.sleep(20)
        return tell(benchmark="backlog", waiting=waiting, rss_mb=round(machine.resident(program.pid)))


def measure_round(parts, only, seed):
    """One after the other on the machine as it is now, so that what is compared was measured at one time.

    The load's seed differs between rounds, so that no run has what another one has left in a cache.
    """
    figures = {}
    if "worker" in only:
        result = worker(parts, seed=seed)
        figures |= {key: result[key] for key in ("requests_per_second", "worker_cpu_us", "postgres_cpu_us", "box_us")}
    if "peer" in only:
        figures["peer_python_rps"] = peer(parts, seed)["requests_per_second"]
    if "ceiling" in only:
        result = ceiling(parts)
        figures["ceiling_rps"] = result["requests_per_second"]
        figures["ceiling_postgres_cpu_us"] = result["postgres_cpu_us"]
    if "two" in only:
        figures["two_workers_rps"] = worker(parts, "two_workers", workers=2, seed=seed)["requests_per_second"]
    for ratio, of, to in (
        ("ratio_python", "requests_per_second", "peer_python_rps"),
        ("ratio_ceiling", "requests_per_second", "ceiling_rps"),
        ("ratio_two_workers", "two_workers_rps", "requests_per_second"),
        ("ratio_worker_cpu", "worker_cpu_us", "ceiling_postgres_cpu_us"),
        ("ratio_postgres_cpu", "postgres_cpu_us", "ceiling_postgres_cpu_us"),
    ):
        if of in figures and to in figures:
            figures[ratio] = round(figures[of] / figures[to], 2)
    return figures


def medians(rounds):
    return {key: statistics.median(figures[key] for figures in rounds) for key in (rounds[0] if rounds else {})}


def broken_gates(summary):
    """The gates that a change has broken, told on stderr."""
    broken = [name for name, limit in GATES.items() if summary.get(name, 0) > limit]
    for name in broken:
        say(f"gate broken: {name} is {summary[name]}, at most {GATES[name]} are allowed")
    return broken


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--requests", type=int, default=200_000)
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--old-rows", type=int, default=10_000_000)
    arguments.add_argument("--only", default="worker,peer,ceiling,two,old,latency,backlog")
    arguments.add_argument("--batch-size", type=int, default=500, help="worker.batchSize, and that of the ceiling")
    arguments.add_argument("--max-in-flight", type=int, default=1024, help="worker.maxInFlight")
    given = arguments.parse_args()
    only = given.only.split(",")
    parts = SimpleNamespace(
        requests=given.requests,
        batch_size=given.batch_size,
        max_in_flight=given.max_in_flight,
        program=os.environ["COURIER_BENCH_PROGRAM"],
        benchmarks=os.environ["COURIER_BENCH_PARTS"],
        postgres=os.environ["COURIER_BENCH_POSTGRES_URL"],
        postgres_process=int(os.environ["COURIER_BENCH_POSTGRES_PROCESS"]),
    )
    rounds = [measure_round(parts, only, number + 1) for number in range(given.runs)]
    summary = {"benchmark": "summary"} | medians(rounds)
    if "latency" in only:
        result = latency(parts)
        summary |= {"p50_ms": result["event_p50_ms"], "p99_ms": result["event_p99_ms"]}
        summary |= {"provider_p99_ms": result["provider_p99_ms"]}
    if "old" in only:
        old = worker(parts, "old_rows", old_rows=given.old_rows, seed=1)["requests_per_second"]
        summary["old_rows_rps"] = old
        if "requests_per_second" in summary:
            summary["ratio_old_rows"] = round(old / summary["requests_per_second"], 2)
    if "backlog" in only:
        summary["rss_mb"] = backlog(parts)["rss_mb"]
    tell(**summary)
    sys.exit(1 if broken_gates(summary) else 0)


if __name__ == "__main__":
    main()
