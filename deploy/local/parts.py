#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs parts of the tests in two lanes beside each other, ends a part that hangs, and says what took how long.

    parts.py --results FOLDER [--until SECONDS] PART…
    parts.py --list

Each part is one run of the built tests, with a log of its own in FOLDER. What waits (timers, faults, brokers that start)
runs in one lane, what computes in the other. A part has a limit: some times what it takes on a fast machine. Past it the
running tests and the stacks of the processes are printed, the part is ended and has failed; the others still run. At
--until (seconds of the Unix clock) every part ends that way, so that no run outlives what starts it.

The variables name the servers: COURIER_TEST_POSTGRES_URL; and for parts on the common Kafka COURIER_TEST_KAFKA,
COURIER_TEST_KAFKA_CLUSTER and COURIER_TEST_KAFKA_REPLICAS. A part with a cluster of its own starts it from KAFKA_HOME.
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "deploy/local"

# Suites by what they need.
RULES = r"^((FormatsTests|VerificationTests|CodeCourierTests|PhoneNumbersTests|LogReadingTests|LogsTests|SMTPClientTests)\.|Faults\.CheckerTests/)"
KAFKA = r"^(KafkaClientTests|Integration)\."
# Rules that only an Apache Kafka has, or only a broker that is no mock cluster.
APACHE = r"\.(ApacheKafkaTests|KafkaFeatures)/"
BROKER = r"^KafkaClientTests\.BrokerProcessTests/"
# Brokers and workers that are killed, and what is timed meanwhile.
RESTARTS = r"^Integration\.ApacheKafkaTests/"
FAULTS = r"^Faults\."

# Assertions of libraries of the tests that end the process and say nothing of the workers. The mock cluster of librdkafka
# 2.0 has one for a member that lost its connection and joins again at the wrong moment, and Hummingbird's server one for a
# connection that begins while it is told to stop.
MOCK_CLUSTER = r"rdkafka_mock.*Assertion"
WEB_SERVER = r"Deinited NIOAsyncWriter without calling finish"


@dataclass
class Part:
    """One run of the tests; `limit` is in seconds, `width` how many tests run at once."""

    name: str
    lane: str
    limit: int
    filter: str = ""
    skip: list[str] = field(default_factory=list)
    width: int = 8
    # The Kafka: none (librdkafka's mock cluster in the process), "common", or a cluster of so many nodes of its own.
    kafka: str | int = ""
    # Whose librdkafka: Debian 12's 2.0.2, or the one that the image ships.
    library: str = "shipped"
    # A command in place of the built tests.
    command: list[str] = field(default_factory=list)
    # The log of a failure for which the part runs once more.
    retry: str = ""
    environment: dict[str, str] = field(default_factory=dict)


# In the order in which a lane runs them.
PARTS = [
    # Without a build, without Kafka
    Part("style", "computes", 480, command=[str(SCRIPTS / "lint.sh")]),
    Part("rules", "computes", 600, RULES, width=4),
    Part("tables", "computes", 720, r"^LedgerTests\.", width=6),
    Part("providers", "computes", 480, r"^(ProvidersTests|SandboxTests)\.", retry=WEB_SERVER),
    # The mock cluster of librdkafka 2.16 ends its process when it is given records of a partition without a leader.
    Part("pipeline", "computes", 240, r"^(CourierTests|PostgresClientTests)\.", library="debian"),
    # On a Kafka: the common cluster of three nodes; where KAFKA_HOME is missing, a broker process
    Part("clients", "waits", 300, r"^KafkaClientTests\.", kafka="common"),
    Part("end-to-end", "waits", 660, r"^Integration\.", [RESTARTS], kafka="common", retry=WEB_SERVER),
    Part("clients-broker", "waits", 300, r"^KafkaClientTests\.", [APACHE], kafka="common"),
    Part("end-to-end-broker", "waits", 660, r"^Integration\.", [APACHE], kafka="common", retry=WEB_SERVER),
    Part(
        "old-library", "waits", 180, kafka="common", library="debian",
        filter=r"^(KafkaClientTests\.(RoundTrip|Group|BrokerProcess)Tests/|Integration\.Scenarios/Delivery/)",
    ),
    Part("restarts", "waits", 900, RESTARTS, kafka=3, retry=WEB_SERVER),
    # On the mock cluster, which injects errors
    Part(
        "faults", "waits", 600, FAULTS, [r"^Faults\.CheckerTests/"], library="debian",
        retry=f"{MOCK_CLUSTER}|{WEB_SERVER}",
    ),
    Part(
        "long-faults", "waits", 4800, FAULTS, [r"^Faults\.CheckerTests/"], library="debian",
        retry=f"{MOCK_CLUSTER}|{WEB_SERVER}", environment={"COURIER_FAULTS_FULL": "1"},
    ),
    # Other builds
    Part("addresses", "computes", 1500, command=[str(SCRIPTS / "addresses.sh")]),
    Part("allocations", "computes", 900, command=[str(SCRIPTS / "bench.sh"), "--micro"]),
    # A few suites of each kind, for `make check`
    Part(
        "one-pass", "waits", 180, library="debian",
        filter=r"^((PostgresClientTests|CourierTests)\.|KafkaClientTests\.(RoundTrip|State)Tests/"
        r"|LedgerTests\.(Intake|Outcome|Outbox|Sweep|Receipt|CheckCode|Migrator|Privilege|LedgerContract)Tests/"
        r"|Integration\.Scenarios/Delivery/)",
    ),
    # The rest of `make test-kafka FULL=1`
    Part("one-node-debian", "waits", 900, KAFKA, [RESTARTS], kafka=1, library="debian"),
    Part("one-node-restarts-debian", "waits", 600, RESTARTS, ["/ThreeNodes/"], kafka=1, library="debian"),
    Part("one-node", "waits", 900, KAFKA, [RESTARTS], kafka=1),
    Part("three-nodes-debian", "waits", 900, KAFKA, [RESTARTS], kafka=3, library="debian"),
    Part("three-nodes-restarts-debian", "waits", 900, RESTARTS, kafka=3, library="debian"),
    # Faults of brokers are errors that the mock cluster injects.
    Part("campaign", "waits", 1200, FAULTS, ["/BrokerFaults/", r"^Faults\.CheckerTests/"], kafka=3),
]  # fmt: skip


@dataclass
class Result:
    part: Part
    seconds: float = 0
    closing: str = ""
    failures: list[str] = field(default_factory=list)
    slowest: list[tuple[float, str]] = field(default_factory=list)
    tests: int = 0
    failed: int = 0

    @property
    def is_good(self):
        return not self.failures


def say(text):
    print(text, file=sys.stderr, flush=True)


class Runner:
    def __init__(self, results, program, until):
        self.results, self.program, self.until = results, program, until
        self.started = time.time()
        self.running = {}
        self.is_stopping = False

    async def run(self, parts):
        lanes = {}
        for part in parts:
            lanes.setdefault(part.lane, []).append(part)
        beat = asyncio.create_task(self.beat())
        results = await asyncio.gather(*(self.run_lane(lane) for lane in lanes.values()))
        beat.cancel()
        found = {result.part.name: result for lane in results for result in lane}
        return [found[part.name] for part in parts if part.name in found]

    async def run_lane(self, parts):
        results = []
        for part in parts:
            if self.is_stopping:
                break
            result = await self.run_part(part)
            if part.retry and not result.is_good and not self.is_stopping and self.deserves_retry(part):
                say(f"  {part.name}: a library of the tests ended the run by an assertion of its own: once more")
                result = await self.run_part(part)
            mark = "✔" if result.is_good else "✘"
            say(f"{mark} {part.name}: {result.seconds:.0f} s, {result.tests} tests")
            for line in result.failures[:20]:
                say(f"    {line}")
            results.append(result)
        return results

    async def beat(self):
        """Tells every half minute what runs: a long silence would look like a hang."""
        while True:
            await asyncio.sleep(30)
            now = time.time()
            state = ", ".join(
                f"{name} ({now - start:.0f} s, {self.ended(name)} tests done)" for name, start in self.running.items()
            )
            say(f"  … {now - self.started:.0f} s: {state}")

    def ended(self, name):
        return sum(1 for event in self.events(name) if event["kind"] == "testEnded")

    async def run_part(self, part):
        say(f"▶ {part.name}")
        start = time.time()
        self.running[part.name] = start
        try:
            result = await self.measure(part)
        finally:
            del self.running[part.name]
        result.seconds = time.time() - start
        return result

    async def measure(self, part):
        result = Result(part)
        for path in self.results.glob(f"{part.name}.*"):
            path.unlink()
        environment = os.environ | part.environment
        cluster = None
        try:
            if part.kafka != "common":
                for name in ("COURIER_TEST_KAFKA", "COURIER_TEST_KAFKA_CLUSTER", "COURIER_TEST_KAFKA_REPLICAS"):
                    environment.pop(name, None)
            if isinstance(part.kafka, int):
                cluster = f"test-{part.name}"
                environment |= self.start_kafka(cluster, part.kafka)
            if part.library == "shipped":
                folder = ROOT / ".local/broker/lib"
                environment["LD_LIBRARY_PATH"] = os.pathsep.join(
                    filter(None, [str(folder), os.environ.get("LD_LIBRARY_PATH")])
                )
                self.check_library(folder, environment)
            code = await self.execute(part, environment, result)
        except Trouble as trouble:
            result.failures.append(str(trouble))
            return result
        finally:
            if cluster:
                subprocess.run([SCRIPTS / "kafka.sh", "stop", cluster], stdin=subprocess.DEVNULL, check=False)
        self.read(result)
        if code and not result.failures:
            result.failures.append(f"ended with {code}, see {self.log(part).relative_to(ROOT)}; these tests ran:")
            result.failures += [f"  {name}" for name in self.running_tests(part.name)]
        return result

    def start_kafka(self, cluster, nodes):
        subprocess.run([SCRIPTS / "kafka.sh", "stop", cluster], stdin=subprocess.DEVNULL, check=False)
        started = subprocess.run(
            [SCRIPTS / "kafka.sh", "start", cluster, str(nodes)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        if started.returncode:
            raise Trouble("Kafka does not start")
        return {
            "COURIER_TEST_KAFKA": started.stdout.strip(),
            "COURIER_TEST_KAFKA_CLUSTER": cluster,
            "COURIER_TEST_KAFKA_REPLICAS": str(nodes),
        }

    def check_library(self, folder, environment):
        """Debian's librdkafka would pass most tests: they must really have got the other one."""
        linked = subprocess.run(["ldd", self.program], env=environment, stdout=subprocess.PIPE, text=True, check=False)
        if f"librdkafka.so.1 => {folder}/" not in linked.stdout:
            raise Trouble("the tests do not load librdkafka from .local/broker/lib")

    def log(self, part):
        return self.results / f"{part.name}.log"

    async def execute(self, part, environment, result):
        """Runs the program of a part within its limit; its exit code, or None when it was ended."""
        chosen = part.filter
        if chosen == FAULTS and os.environ.get("COURIER_FAULTS_ONLY"):
            chosen = rf"^Faults\.[A-Za-z]+/({os.environ['COURIER_FAULTS_ONLY']})/"
        command = part.command or [
            str(self.program), "--testing-library", "swift-testing", "--filter", chosen,
            *(word for pattern in part.skip for word in ("--skip", pattern)),
            "--experimental-maximum-parallelization-width", str(part.width),
            "--event-stream-output-path", str(self.results / f"{part.name}.jsonl"), "--event-stream-version", "6.3",
        ]  # fmt: skip
        with open(self.log(part), "wb") as log:
            # In a session of its own: all that it starts is found by that, whatever becomes of their parents.
            process = await asyncio.create_subprocess_exec(
                *command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
        waiting = asyncio.create_task(process.wait())
        deadline = min(time.time() + part.limit, self.until)
        try:
            while not waiting.done():
                if self.is_stopping:
                    result.failures.append("was interrupted")
                    break
                if time.time() > deadline:
                    result.failures.append(f"hung: not done after its limit of {part.limit} s")
                    await self.tell_where(part, process.pid)
                    break
                await asyncio.wait([waiting], timeout=0.25)
        finally:
            end_session(process.pid)
        await waiting
        return process.returncode

    async def tell_where(self, part, session):
        """Prints the tests that run, and the stacks of the test process and the workers."""
        say(f"✘ {part.name} hangs; these tests run:")
        running = list(self.running_tests(part.name))
        for name in running[:40]:
            say(f"    {name}")
        gdb = shutil.which("gdb")
        if not gdb:
            say("    no stacks: there is no gdb (apt-get install gdb)")
            return
        stacks = self.results / f"{part.name}.stacks"
        found = processes_of(session)
        ours = [(process, name) for process, name in found if name.startswith("code-courier")]
        for process, name in (ours or found)[:4]:
            shown = await asyncio.create_subprocess_exec(
                "timeout", "60", gdb, "--pid", str(process), "--batch", "-ex", "set pagination off",
                "-ex", "thread apply all bt 30", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )  # fmt: skip
            text = (await shown.communicate())[0].decode(errors="replace")
            with open(stacks, "a", encoding="utf-8") as file:
                file.write(f"=== {name} ({process})\n{text}\n")
            frames = [line for line in text.splitlines() if line.startswith(("Thread ", "#"))]
            say(f"    stacks of {name} ({process}), whole in {stacks.relative_to(ROOT)}:")
            for line in frames[:120]:
                say(f"      {line[:200]}")

    def deserves_retry(self, part):
        text = self.log(part).read_text(errors="replace")
        return re.search(part.retry, text) and "✘" not in text

    # The facts of the event stream

    def events(self, name):
        """The events of a part, those of whole suites left out."""
        functions = set()
        try:
            with open(self.results / f"{name}.jsonl", encoding="utf-8", errors="replace") as stream:
                for line in stream:
                    try:
                        record = json.loads(line)
                    except ValueError:
                        continue
                    payload = record["payload"]
                    if record["kind"] == "test" and payload["kind"] == "function":
                        functions.add(payload["id"])
                    elif record["kind"] == "event" and payload.get("testID") in functions:
                        yield payload
        except OSError:
            return

    def running_tests(self, name):
        running = {}
        for event in self.events(name):
            if event["kind"] == "testStarted":
                running[event["testID"]] = None
            elif event["kind"] == "testEnded":
                running.pop(event["testID"], None)
        return (title(test) for test in running)

    def read(self, result):
        """Takes from the log and the event stream what failed, how many tests there were, and the slowest."""
        part = result.part
        lines = self.log(part).read_text(errors="replace").splitlines()
        closing = [line for line in lines if "Test run with" in line and "started" not in line]
        result.closing = closing[-1] if closing else "no result"
        is_reason = False
        for line in lines:
            is_reason = "✘" in line or is_reason and line.lstrip().startswith("↳") and "↳ //" not in line
            if is_reason and "✘ Suite" not in line and "✘ Test run" not in line or "AddressSanitizer:" in line:
                result.failures.append(line.strip()[:600])
        if part.command:
            if not closing:
                result.closing = lines[-1][:300] if lines else "no result"
                result.tests = sum(1 for line in lines if line.startswith("{"))
            else:
                found = re.search(r"Test run with (\d+) test", result.closing)
                result.tests = int(found[1]) if found else 0
            return
        turns, skipped, issues = Turns(part.width), 0, set()
        for event in self.events(part.name):
            kind, test, now = event["kind"], event["testID"], event["instant"]["absolute"]
            if kind == "testSkipped":
                skipped += 1
            elif kind == "issueRecorded" and not event.get("issue", {}).get("isKnown"):
                issues.add(test)
            else:
                result.tests += kind == "testEnded"
                turns.note(kind, test, now)
        result.failed = len(issues)
        result.slowest = sorted(((seconds, title(test)) for test, seconds in turns.times.items()), reverse=True)[:5]
        if result.tests == 0 and not result.failures:
            result.failures.append("no test ran")
        if skipped:
            result.failures.append(f"{skipped} tests were skipped; a missing service has to fail")


class Turns:
    """The time that each test took from its turn on.

    The event stream reports the turn of each case of a test with arguments, but only the scheduling of a test without. So
    the turns are computed: `width` tests run at a time, in the order of their scheduling.
    """

    def __init__(self, width):
        self.width, self.times = width, {}
        self.waiting, self.active, self.cases = [], {}, {}
        self.with_arguments = set()

    def note(self, kind, test, now):
        if kind == "testStarted":
            self.waiting.append(test)
        elif kind == "testCaseStarted":
            if test not in self.with_arguments:
                self.with_arguments.add(test)
                self.active.pop(test, None)
                if test in self.waiting:
                    self.waiting.remove(test)
            self.cases.setdefault(test, []).append(now)
        elif kind == "testCaseEnded" and self.cases.get(test):
            self.times[test] = self.times.get(test, 0) + now - self.cases[test].pop(0)
        elif kind == "testEnded" and test not in self.with_arguments:
            if test not in self.active and self.active and test in self.waiting:
                # It was before another one that was taken for it.
                other = min(self.active, key=self.active.get)
                self.active[test] = self.active.pop(other)
                self.waiting[self.waiting.index(test)] = other
            self.times[test] = now - self.active.pop(test, now)
        free = self.width - len(self.active) - sum(len(starts) for starts in self.cases.values())
        for _ in range(min(free, len(self.waiting))):
            self.active[self.waiting.pop(0)] = now


class Trouble(Exception):
    pass


def title(test):
    """`Suite: name` of a test's id."""
    suite, _, name = test.partition("/")
    name = re.sub(r"/[^/]*:\d+:\d+$", "", name)
    name = re.sub(r"\([^()]*\)$", "", name).replace("`", "")
    return f"{suite.partition('.')[2].replace('`', '')}: {name[:110]}"


def processes():
    """Every process as its number, parent, session and name."""
    for path in Path("/proc").iterdir():
        if not path.name.isdigit():
            continue
        try:
            text = (path / "stat").read_text()
        except OSError:
            continue
        name, _, rest = text.partition("(")[2].rpartition(")")
        words = rest.split()
        if words[0] not in "ZX":
            yield int(path.name), int(words[1]), int(words[3]), name


def processes_of(session):
    """The processes of a session and the descendants of its leader."""
    found, family = list(processes()), {session}
    for _ in range(8):
        family |= {process for process, parent, _, _ in found if parent in family}
    return [(process, name) for process, _, owner, name in found if owner == session or process in family]


def end_session(session):
    """Ends what is left of a part: first in order, then at once."""
    for number, seconds in ((signal.SIGTERM, 2.0), (signal.SIGKILL, 2.0)):
        left = processes_of(session)
        for process, _ in left:
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass
        limit = time.time() + seconds
        while left and time.time() < limit:
            time.sleep(0.05)
            left = processes_of(session)
        if not left:
            return


def tell(results, started):
    """Prints what failed, the table of parts, and a closing line."""
    bad = [result for result in results if not result.is_good]
    if bad:
        say("\nWhat failed (whole logs in .local):")
        for result in bad:
            for line in result.failures[:30]:
                say(f"  {result.part.name}: {line}")
    print(f"\n{'part':<28} {'seconds':>8} {'tests':>6}  slowest five (seconds)")
    for result in results:
        slowest = [f"{seconds:.1f} {name}" for seconds, name in result.slowest] or [result.closing[:150]]
        print(f"{result.part.name:<28} {result.seconds:>8.0f} {result.tests:>6}  {slowest[0]}")
        for line in slowest[1:]:
            print(f"{'':<45} {line}")
    print(f"{'all, in two lanes':<28} {time.time() - started:>8.0f} {sum(result.tests for result in results):>6}\n")
    for result in results:
        print(f"{result.part.name}: {'' if result.is_good else 'FAILED: '}{result.closing}")
        # Where the start of a long output is cut off, the reasons stand at its end.
        for line in result.failures[:8]:
            print(f"    {line[:300]}")
    failed = sum(max(result.failed, 0 if result.is_good else 1) for result in results)
    print(f"{max(0, sum(result.tests for result in results) - failed)} passed, {failed} failed", flush=True)


def built_tests():
    place = subprocess.run(
        ["swift", "build", "--show-bin-path", *os.environ.get("COURIER_TEST_BUILD", "").split()],
        cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    found = sorted(Path(place).glob("*.xctest"))
    if not found:
        sys.exit("error: there are no built tests: run swift build --build-tests")
    return found[0]


async def run(parts, runner):
    loop = asyncio.get_running_loop()

    def stop():
        runner.is_stopping = True
        say("ending the parts that run …")

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop)
    return await runner.run(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--results", type=Path, help="folder of the logs")
    parser.add_argument("--until", type=float, default=time.time() + 4500, help="when all ends, by the Unix clock")
    parser.add_argument("--list", action="store_true", help="print the parts and what they need")
    given = parser.parse_args()
    known = {part.name: part for part in PARTS}
    if given.list:
        for part in PARTS:
            print(f"{part.name:<28} {part.lane:<9} {part.limit:>5} s  {part.filter or ' '.join(part.command)}")
        return
    unknown = [name for name in given.parts if name not in known]
    if unknown or not given.parts:
        parser.error(f"unknown part: {', '.join(unknown)}" if unknown else "no part is named; --list has them")
    if not given.results:
        parser.error("--results names no folder")
    given.results.mkdir(parents=True, exist_ok=True)
    runner = Runner(given.results.resolve(), built_tests(), given.until)
    results = asyncio.run(run([known[name] for name in given.parts], runner))
    tell(results, runner.started)
    if runner.is_stopping:
        sys.exit(130)
    if any(not result.is_good for result in results):
        sys.exit(1)


if __name__ == "__main__":
    main()
