# SPDX-License-Identifier: Apache-2.0
"""The surroundings of one measurement: a database, topics and a provider of its own, and the programs that it measures."""

import concurrent.futures
import contextlib
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request
import uuid

import psycopg
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

PARTITIONS = 6
REQUESTS, DELIVERIES, DEAD_LETTERS, RECEIPTS = "requests", "deliveries", "dead-letters", "receipts"


class Failure(Exception):
    """A contestant or a server failed; the message says what, and ends with the last lines of its log."""


class Arena:
    """Made for one measurement and taken down after it; each contestant gets the same."""

    def __init__(self, parts, contestant):
        self.parts, self.contestant = parts, contestant
        self.name = "bench_" + uuid.uuid4().hex[:12]
        self.programs = []
        self.published = 0

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.folder = tempfile.mkdtemp(prefix="courier-bench-")
            stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
            self.make_database(stack)
            self.make_topics(stack)
            stack.callback(self.kill_programs)
            provider = self.start([self.parts.benchmarks, "provider"], stdout=subprocess.PIPE)
            self.provider, self.provider_port = provider, int(provider.stdout.readline())
            self.watch(stack)
            self.contestant.prepare(self)
            # A checkpoint in the middle would add the images of its pages to one contestant's WAL.
            with self.server() as server:
                server.execute("CHECKPOINT")
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def make_database(self, stack):
        with self.server() as server:
            server.execute(f"CREATE DATABASE {self.name}")
        stack.callback(self.drop_database)
        self.url = self.parts.postgres.rpartition("/")[0] + "/" + self.name

    def drop_database(self):
        # Ignore a server that is gone: the failure that ended it is reported instead.
        with contextlib.suppress(psycopg.OperationalError), self.server() as server:
            server.execute(f"DROP DATABASE {self.name} WITH (FORCE)")

    def make_topics(self, stack):
        topics = [self.topic(name) for name in (REQUESTS, DELIVERIES, DEAD_LETTERS, RECEIPTS)]
        admin = AdminClient({"bootstrap.servers": self.parts.kafka, "log_level": 4})
        # As docs/deployment.md makes them.
        config = {"message.timestamp.type": "LogAppendTime"}
        for future in admin.create_topics([NewTopic(name, PARTITIONS, 1, config=config) for name in topics]).values():
            future.result(30)
        stack.callback(lambda: concurrent.futures.wait(admin.delete_topics(topics).values(), 30))

    def kill_programs(self):
        for program in reversed(self.programs):
            program.kill()
            program.wait()

    def server(self):
        return contextlib.closing(psycopg.connect(self.parts.postgres, autocommit=True))

    def database(self):
        return contextlib.closing(psycopg.connect(self.url, autocommit=True))

    def topic(self, name):
        return f"{self.name}.{name}"

    def start(self, command, stdout=None):
        """Starts a program that is to run until the measurement is over; its log is shown if it ends before."""
        path = f"{self.folder}/{len(self.programs)}.log"
        with open(path, "w") as log:
            program = subprocess.Popen(command, stdout=stdout or log, stderr=log, stdin=subprocess.DEVNULL)
        program.log = path
        self.programs.append(program)
        return program

    def start_contestant(self):
        return self.start(self.contestant.command(self))

    def produce(self, records):
        producer = Producer({"bootstrap.servers": self.parts.kafka, "linger.ms": 20, "acks": "all"})
        for key, value, headers in records:
            while True:
                try:
                    producer.produce(self.topic(REQUESTS), value, key, headers=headers)
                    break
                except BufferError:
                    producer.poll(0.1)
        left = producer.flush(120)
        if left:
            raise Failure(f"Kafka has not taken {left} requests within 120 s")

    def watch(self, stack):
        """Begins to count what is published, as a reader of events."""
        self.watcher = Consumer({
            "bootstrap.servers": self.parts.kafka, "group.id": self.name + ".watcher", "enable.auto.commit": False,
            "fetch.wait.max.ms": 100, "fetch.min.bytes": 65_536, "auto.offset.reset": "error",
        })
        stack.callback(self.watcher.close)
        self.watcher.assign([
            TopicPartition(self.topic(name), partition, 0)
            for name in (DELIVERIES, DEAD_LETTERS) for partition in range(PARTITIONS)
        ])

    def reach(self, count, within):
        """Waits until so many events and dead letters are published, or so many seconds; returns how many are."""
        end = time.monotonic() + within
        while self.published < count and time.monotonic() < end:
            messages = self.watcher.consume(2000, 0.1)
            for message in messages:
                if message.error() is not None:
                    raise Failure(f"the topics cannot be read: {message.error()}")
            # A request whose message waits has another event later.
            self.published += sum(b'"send_pending"' not in message.value() for message in messages)
            for program in self.programs:
                if program.poll() is not None:
                    raise self.failure(f"a program ended with code {program.returncode}", program)
        return self.published

    def wait_for(self, count, within):
        """Waits until so many events and dead letters are published."""
        if self.reach(count, within) < count:
            raise self.failure(f"{self.published} of {count} were published within {within} s")

    def failure(self, words, program=None):
        """The failure, with the last lines of the program's log, or of the contestants'."""
        programs = [program] if program else self.programs[1:]
        logs = ["".join(open(program.log, errors="replace").readlines()[-10:]) for program in programs]
        return Failure("\n".join([f"{self.contestant.name}: {words}; the end of its log:", *logs]))

    def arrivals(self):
        """The number and the moment (µs since 1970) of each message that came to the provider since the last time."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.provider_port}/arrivals") as answer:
            lines = answer.read().decode().splitlines()
        return [(number, int(moment)) for number, moment in (line.split() for line in lines)]
