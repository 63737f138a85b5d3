#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A gateway: it asks for one code to be sent, and shows the event that answers.

    gateway.py --brokers 127.0.0.1:9092 --phone +16502530000 [--purpose sign_in] [--subject ACCOUNT] [--request-id ID]

It needs confluent-kafka from PyPI; any Kafka client does the same.
"""
import argparse
import datetime
import json
import time
import uuid

from confluent_kafka import Consumer, Producer, TopicPartition


def request(options):
    """A request as schemas/kafka/request.schema.json describes it. Its id is drawn once, also for a repeat of it."""
    now = datetime.datetime.now(datetime.timezone.utc)
    account = {"subject": options.subject} if options.subject else {}
    return account | {
        "requestId": options.request_id or str(uuid.uuid4()),
        "purpose": options.purpose,
        "recipient": {"phoneNumber": options.phone},
        "requestedAt": now.isoformat(timespec="milliseconds"),
        "deadline": (now + datetime.timedelta(minutes=2)).isoformat(timespec="milliseconds"),
    }


def listen(options):
    """A consumer that reads every partition of the events from now on, without a group."""
    consumer = Consumer({"bootstrap.servers": options.brokers, "group.id": "gateway", "enable.auto.commit": False})
    partitions = consumer.list_topics(options.events, timeout=10).topics[options.events].partitions
    places = [TopicPartition(options.events, partition) for partition in partitions]
    for place in places:
        place.offset = consumer.get_watermark_offsets(place, timeout=10)[1]
    consumer.assign(places)
    return consumer


def send(options, value):
    """Produces the request, and waits until the broker has it: only then has the person been promised a code."""
    failures = []
    # The same id again is harmless, so whatever fails may be tried again; idempotence keeps the order meanwhile.
    producer = Producer({"bootstrap.servers": options.brokers, "enable.idempotence": True})
    # The key is stable per recipient, so that one person's requests stay in order.
    producer.produce(options.topic, json.dumps(value).encode(), key=options.phone,
                     on_delivery=lambda error, _: failures.append(error))
    if producer.flush(10) or failures[0]:
        raise SystemExit(f"not produced: {failures}")


def answer(consumer, request_id, seconds):
    """The first event of the request. Others come later: delivered, undelivered, expired."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        message = consumer.poll(0.2)
        event = json.loads(message.value()) if message is not None and message.error() is None else {}
        if event.get("requestId") == request_id:
            return event
    return None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brokers", default="127.0.0.1:9092")
    parser.add_argument("--topic", default="verification.requests")
    parser.add_argument("--events", default="verification.deliveries")
    parser.add_argument("--phone", required=True)
    parser.add_argument("--purpose", default="sign_in")
    parser.add_argument("--subject", help="the account; required for mfa_* and reauthentication")
    parser.add_argument("--request-id")
    options = parser.parse_args()
    consumer, asked = listen(options), request(options)
    send(options, asked)
    event = answer(consumer, asked["requestId"], 20)
    consumer.close()
    print(json.dumps(event))
    raise SystemExit(event is None)
