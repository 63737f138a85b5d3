#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A gateway: it requests a code and shows the event that answers, or does so for clients over HTTP.

    gateway.py --brokers 127.0.0.1:9092 --phone +16502530000 [--purpose sign_in] [--subject ACCOUNT] [--request-id ID]
    gateway.py --brokers 127.0.0.1:9092 --serve 127.0.0.1:8081
        POST /codes {"phone": "+16502530000"}   200 when the event is there within 3 s, else 202; other codes below.
                                                With "requestId": "a UUID of the app" it may be repeated
        GET /codes/REQUEST_ID                   the same for what has happened since

It needs confluent-kafka from PyPI; any Kafka client does the same.
"""
import argparse
import datetime
import http.server
import json
import threading
import time
import uuid

from confluent_kafka import Consumer, Producer, TopicPartition


def request(phone, purpose, subject=None, request_id=None):
    """A request as schemas/kafka/request.schema.json describes it. Its id is drawn once, also for a repeat of it."""
    now = datetime.datetime.now(datetime.timezone.utc)
    account = {"subject": subject} if subject else {}
    return account | {
        "requestId": request_id or str(uuid.uuid4()),
        "purpose": purpose,
        "recipient": {"phoneNumber": phone},
        "requestedAt": now.isoformat(timespec="milliseconds"),
        "deadline": (now + datetime.timedelta(minutes=2)).isoformat(timespec="milliseconds"),
    }


def listen(options):
    """A consumer that reads every partition of the events from now on, without a group."""
    consumer = Consumer({
        "bootstrap.servers": options.brokers, "group.id": "gateway", "enable.auto.commit": False,
        "fetch.wait.max.ms": 10,  # the first event would come up to half a second late
    })
    partitions = consumer.list_topics(options.events, timeout=10).topics[options.events].partitions
    places = [TopicPartition(options.events, partition) for partition in partitions]
    for place in places:
        place.offset = consumer.get_watermark_offsets(place, timeout=10)[1]
    consumer.assign(places)
    return consumer


def send(producer, topic, value):
    """Produces the request; True once the broker has it: only then has the person been promised a code."""
    errors = []
    # The key is stable per recipient, so that one person's requests stay in order.
    producer.produce(topic, json.dumps(value).encode(), key=value["recipient"]["phoneNumber"],
                     on_delivery=lambda error, _: errors.append(error))
    end = time.monotonic() + 10
    while not errors and time.monotonic() < end:
        producer.poll(0.1)
    return errors == [None]  # whatever failed may be tried again with the same id


def answer(consumer, request_id, seconds):
    """The first event of the request. Others come later: delivered, undelivered, expired."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        message = consumer.poll(0.2)
        event = json.loads(message.value()) if message is not None and message.error() is None else {}
        if event.get("requestId") == request_id:
            return event
    return None


class Answers(threading.Thread):
    """Reads the events of all partitions once for this instance, and keeps those of its own requests."""

    def __init__(self, consumer):
        super().__init__(daemon=True)
        self.consumer, self.changed = consumer, threading.Condition()
        self.events = {}  # by requestId and by verificationId; None: not answered yet
        self.start()

    def run(self):
        while True:
            message = self.consumer.poll(1)
            if message is None or message.error() is not None:
                continue
            # A record that somebody else wrote into the topic may lack either.
            names = message.key(), dict(message.headers() or []).get("ce_requestid")
            ids = {name.decode(errors="replace") for name in names if name}
            with self.changed:
                if any(name in self.events for name in ids):  # else another instance's: its value is not parsed
                    event = json.loads(message.value())
                    # An event may be published again, after newer ones.
                    self.events |= {name: event for name in ids
                                    if (self.events.get(name) or event)["sequence"] <= event["sequence"]}
                    self.changed.notify_all()

    def expect(self, request_id):
        with self.changed:
            self.events.setdefault(request_id)  # a repeat may come while the first one waits: one event answers both
            while len(self.events) > 100_000:
                del self.events[next(iter(self.events))]

    def newest(self, request_id, seconds):
        """The newest event of the request's verification, or of a request without one; None if none came in time."""
        with self.changed:
            self.changed.wait_for(lambda: self.events.get(request_id), seconds)
            event = self.events.get(request_id)
            return event and self.events.get(event.get("verificationId"), event)


HTTP = {"sent": 200, "delivered": 200, "suppressed": 200, "unknown": 200, "expired": 410, "expired_unsent": 503,
        "failed": 502, "undelivered": 502, "approved": 200, "locked": 429}
LATER = ("max_sends", "locked")


def own_id(asked):
    """The app's id of the request, which has to be random: whoever knows it may ask for the answer."""
    return str(uuid.UUID(str(asked["requestId"]))) if asked.get("requestId") else None


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        try:
            asked = json.loads(self.rfile.read(max(0, min(int(self.headers["Content-Length"]), 4096))))
            # Your gateway takes subject and client.ip from the session.
            value = request(str(asked["phone"]), options.purpose, request_id=own_id(asked))
        except (KeyError, TypeError, ValueError):
            return self.respond(400, {"error": 'send {"phone": "+16502530000"}'})
        answers.expect(value["requestId"])
        if send(producer, options.topic, value):
            self.reply(value["requestId"], options.wait)
        else:
            self.respond(503, {})

    def do_GET(self):
        self.reply(self.path.rpartition("/")[2], 0)

    def reply(self, request_id, seconds):
        event = answers.newest(request_id, seconds)
        if event is None:  # it still may come: the client shows the field for the code, and asks again
            return self.respond(202, {"requestId": request_id})
        reason = event.get("reason", "")
        code = HTTP.get(event["status"]) or (429 if reason.startswith("quota_") or reason in LATER else 422)
        # Here event["verificationId"] goes into the session, where the verifier's call takes it from. Clients get no
        # reason: it tells attackers which numbers and regions are refused.
        shown = {"requestId": request_id, "resendAfter": event.get("resendAfter"), "code": event.get("code")}
        self.respond(code, shown if code == 200 else {"requestId": request_id})

    def respond(self, code, body):
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--brokers", default="127.0.0.1:9092")
    parser.add_argument("--topic", default="verification.requests")
    parser.add_argument("--events", default="verification.deliveries")
    parser.add_argument("--phone")
    parser.add_argument("--serve", metavar="HOST:PORT")
    parser.add_argument("--wait", type=float, default=3, help="seconds until 202")
    parser.add_argument("--purpose", default="sign_in")
    parser.add_argument("--subject", help="the account; required for mfa_* and reauthentication")
    parser.add_argument("--request-id")
    options = parser.parse_args()
    if not options.phone and not options.serve:
        parser.error("--phone or --serve is needed")
    consumer = listen(options)
    producer = Producer({"bootstrap.servers": options.brokers, "enable.idempotence": True})
    if options.serve:
        answers = Answers(consumer)
        host, _, port = options.serve.rpartition(":")
        server = http.server.ThreadingHTTPServer((host, int(port)), Handler)
        print(f"gateway: http://{host}:{server.server_port}", flush=True)
        server.serve_forever()
    asked = request(options.phone, options.purpose, options.subject, options.request_id)
    if not send(producer, options.topic, asked):
        raise SystemExit("not produced")
    event = answer(consumer, asked["requestId"], 20)
    consumer.close()
    print(json.dumps(event))
    raise SystemExit(event is None)
