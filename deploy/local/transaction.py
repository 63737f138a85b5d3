#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes records to a topic in one transaction, for the tests on a real Apache Kafka, and ends it as it is told.

Each line of RECORDS is a JSON object with `partition`, `key` and `value`. `leave` goes away with the transaction open: the
broker ends it when its time is over.
"""

import argparse
import json
import os
import sys

from confluent_kafka import Producer

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("brokers")
parser.add_argument("topic")
parser.add_argument("end", choices=["commit", "abort", "leave"])
parser.add_argument("--seconds", type=int, default=60, help="the longest that the transaction may be open")
parser.add_argument("records", type=argparse.FileType(encoding="utf-8"))
options = parser.parse_args()

failures = []
producer = Producer({
    "bootstrap.servers": options.brokers,
    "transactional.id": os.urandom(8).hex(),
    "transaction.timeout.ms": options.seconds * 1000,
})
producer.init_transactions(60)
producer.begin_transaction()
for line in options.records:
    record = json.loads(line)
    producer.produce(options.topic, record["value"], record["key"], record["partition"],
                     on_delivery=lambda error, _: failures.append(error) if error else None)
producer.flush(30)
if failures:
    sys.exit(f"a record was not written: {failures[0].name()}")
if options.end == "commit":
    producer.commit_transaction(30)
elif options.end == "abort":
    producer.abort_transaction(30)
else:
    # Without the client's own end, which would abort the transaction.
    os._exit(0)
