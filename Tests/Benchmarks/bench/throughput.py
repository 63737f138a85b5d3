# SPDX-License-Identifier: Apache-2.0
"""The requests a second of a contestant, and the cost of one."""

import time

import machine
from arena import Arena

# A window begins when a tenth is done and ends at 99 %, or after so many seconds: the very last events may wait for a
# sweep, which is no matter of throughput, and a slow contestant need not do it all.
BEGIN, END = 0.1, 0.99
WARM_UP_SECONDS, WINDOW_SECONDS = 5, 15


def measure(parts, contestant, records, kinds, workers=1):
    """The figures of a contestant that finds all requests waiting; `kinds` says how many there are of each."""
    with Arena(parts, contestant) as arena:
        count = len(records)
        arena.produce(records)
        programs = [arena.start_contestant() for _ in range(workers)]
        arena.wait_for(1, 120)
        begin = arena.reach(int(count * BEGIN), WARM_UP_SECONDS)
        started, before = time.monotonic(), costs(arena, programs)
        done = arena.reach(int(count * END), WINDOW_SECONDS) - begin
        seconds, after = time.monotonic() - started, costs(arena, programs)
        if done <= 0:
            raise arena.failure(f"nothing was published within {seconds:.0f} s")
        check_messages(arena, count, kinds)
        return {
            "requests": done, "seconds": round(seconds, 2), "requests_per_second": round(done / seconds),
            **{name: round((after[name] - before[name]) / done, 1) for name in before},
            "rss_mb": round(max(machine.resident(program.pid) for program in programs)),
        }


def costs(arena, programs):
    """The costs until now: processor time in µs, of the whole machine in `box_us`, and bytes of WAL."""
    parts = arena.parts
    spent = {
        "worker_cpu_us": sum(machine.own(program.pid) for program in programs),
        "postgres_cpu_us": machine.tree(parts.postgres_process),
        "kafka_cpu_us": machine.own(parts.kafka_process),
        "provider_cpu_us": machine.own(arena.provider.pid),
        "box_us": machine.box(),
    }
    with arena.database() as database:
        spent["wal_bytes"] = int(database.execute("SELECT pg_current_wal_lsn() - '0/0'").fetchone()[0])
    return spent


def check_messages(arena, count, kinds):
    """Fails a contestant that publishes events of messages that it has not sent, or sends some twice."""
    new, repeated = kinds["new"], kinds["repeated"]
    if arena.published < int(count * END):
        # It was not to do it all. Of what is published so many are events of messages.
        arrived, least = len(arena.arrivals()), arena.published * new / count * 0.9
    else:
        arena.wait_for(count, 120)
        arrived, least = len(arena.arrivals()), new
    # On a slow machine a repeat may come after the window in which it gets no message.
    if not least <= arrived <= new + repeated:
        raise arena.failure(f"{arrived} messages came to the provider, for {new} new requests of {count}")
