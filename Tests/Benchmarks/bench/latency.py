# SPDX-License-Identifier: Apache-2.0
"""From a record's way to the broker to the provider's first byte, and to its event at a consumer, at a low rate."""

import json
import statistics
import threading
import time

from arena import DELIVERIES, PARTITIONS, REQUESTS, Arena
from confluent_kafka import Consumer, Producer, TopicPartition
from load import Load

WARM_UP = 2000


def measure(parts, contestant, seed, rate, seconds=10):
    load = Load(seed)
    with Arena(parts, contestant) as arena:
        arena.start_contestant()
        arena.produce(load.take(WARM_UP))
        arena.wait_for(WARM_UP, 60)
        arena.arrivals()
        reader = EventReader(arena)
        sent, asked = send(arena, load, rate, rate * seconds)
        arena.wait_for(WARM_UP + rate * seconds, 60)
        seen = reader.finish()
        arrived = {}
        for number, moment in arena.arrivals():
            arrived.setdefault(number, moment / 1e6)
        to_provider = [arrived[number] - at for number, at in asked.items() if arrived.get(number, 0) > at]
        to_event = [seen[request] - at for request, at in sent.items() if request in seen]
        if len(to_provider) < 0.7 * len(sent) or len(to_event) < 0.9 * len(sent):
            raise arena.failure(f"{len(to_provider)} messages and {len(to_event)} events for {len(sent)} requests")
    return {
        "rate": rate, "sent": len(to_provider), "events": len(to_event),
        **percentiles("provider_", to_provider), **percentiles("", to_event),
    }


def send(arena, load, rate, count):
    """Sends requests at an even pace; returns when each request and the first one of each number was sent."""
    producer = Producer({"bootstrap.servers": arena.parts.kafka, "linger.ms": 0, "acks": "all"})
    producer.list_topics(arena.topic(REQUESTS), 30)
    sent, asked = {}, {}
    begin = time.time()
    for place in range(count):
        key, value, headers = load.one()
        # The pace of the requests, however long the one before took.
        time.sleep(max(0, begin + place / rate - time.time()))
        if key != b"?":
            request = json.loads(value)["requestId"]
            sent.setdefault(request, time.time())
            # Of a person's requests the first one is sent.
            asked.setdefault(key.decode().lstrip("+"), sent[request])
        producer.produce(arena.topic(REQUESTS), value, key, headers=headers)
        producer.poll(0)
    producer.flush(30)
    return sent, asked


class EventReader:
    """A thread that notes when the first event of each request comes, from its making on."""

    def __init__(self, arena):
        self.consumer = Consumer({
            "bootstrap.servers": arena.parts.kafka, "group.id": arena.name + ".reader", "enable.auto.commit": False,
        })
        self.seen, self.done = {}, threading.Event()
        places = [TopicPartition(arena.topic(DELIVERIES), partition) for partition in range(PARTITIONS)]
        for place in places:
            place.offset = self.consumer.get_watermark_offsets(place, timeout=10)[1]
        self.consumer.assign(places)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        message = None
        while message is not None or not self.done.is_set():
            message = self.consumer.poll(0.1)
            if message is not None and message.error() is None:
                self.seen.setdefault(json.loads(message.value())["requestId"], time.time())
        self.consumer.close()

    def finish(self):
        self.done.set()
        self.thread.join()
        return self.seen


def percentiles(prefix, times):
    cuts = statistics.quantiles([1000 * moment for moment in times], n=1000)
    return {f"{prefix}p50_ms": round(cuts[499], 1), f"{prefix}p99_ms": round(cuts[989], 1)}
