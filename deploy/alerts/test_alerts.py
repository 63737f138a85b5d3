#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the alerts: every field and event that they use exists, what is made from the table is what it says, each has a
runbook, and each fires on lines that it is for, for as long as they tell of a fault, and on no others."""

import itertools
import json
import pathlib
import re
import sys

import check
import generate
import logql
import samples
import table

ROOT = table.FOLDER.parents[1]


def beats(minutes, workers=("host-1", "host-2"), begin=0, **changes):
    """Heartbeats of some workers, every ten seconds."""
    return [samples.worker_stats(second, worker=worker, **changes)
            for second in range(begin * 60, (begin + minutes) * 60, 10) for worker in workers]


CALM = beats(20)


def during(**changes):
    """Twenty minutes of which ten are as the changes say."""
    return beats(5) + beats(10, begin=5, **changes) + beats(5, begin=15)


def one(**changes):
    """Six minutes of one worker alone, all as the changes say."""
    return beats(6, ("host-1",), **changes)


def in_turn(some, others, seconds=120):
    """Twenty minutes, in turn as some changes say and as the others, for so many seconds."""
    return [samples.worker_stats(second, worker=worker, **(others if second // seconds % 2 else some))
            for second in range(0, 1200, 10) for worker in ("host-1", "host-2")]


def ended(worker, event="worker.stopped"):
    return [samples.line(605, event, "notice", **{"worker.id": worker})]


def lost(event):
    return CALM + [samples.line(605, event, "error", topic="verification.requests", partition=0, offset=5)]


def apart(lines):
    """The lines of a worker whose database is away: it knows nothing of the fleet."""
    return [re.sub(r'"(outbox|due_sends|oldest_snapshot_ms)":[0-9]+,', "", line) for line in lines]


def older(lines):
    """The lines of a version that does not tell repeats."""
    return [line.replace('"repeats":20,', "") for line in lines]


def few(every, failed):
    """Twenty minutes of one worker without a provider that works: now and then some messages fail, and none is sent."""
    return [samples.worker_stats(second, requests=1, decisions={"sent": 0, "failed": 0 if second % every else failed})
            for second in range(0, 1200, 10)]


def night(**changes):
    """Ten minutes of one worker that sends nothing, the fifth of them with one heartbeat as the changes say."""
    calm = {"decisions": {"sent": 0, "failed": 0}, "requests": 0}
    return [samples.worker_stats(second, **calm, **(changes if second == 300 else {})) for second in range(0, 600, 10)]


def week(*amounts):
    """One heartbeat at noon of each day, the last of them today, with the money spent."""
    return [samples.worker_stats(-86_400 * day, spend={"USD": {"amount": amount}} if amount else {})
            for day, amount in zip(range(len(amounts) - 1, -1, -1), amounts)]


# A backup whose pause is over and that no message has asked since.
IDLE = {"providers__backup__breaker": "half_open"}

# A scope that tripped a while ago.
TRIPPED = [samples.line(0, "brake.tripped", "warning", tenant="shop", scope="prefix", region="GB", **{"brake.key": "9f86d081"})]

# For each alert the lines that fire it and lines that come near and do not.
CASES = {
    "LagGrowing": (during(lag={"0": 12, "7": 4200}), beats(3) + beats(4, begin=3, lag={"0": 4200}) + beats(8, begin=7)),
    "RequestsUnread": (during(oldest_unread_ms=45_000, lag={"0": 1}), beats(3) + beats(1, begin=3, oldest_unread_ms=90_000) + beats(8, begin=4)),
    "UnknownOutcomes": (during(decisions__unknown=20), during(decisions__unknown=5)),
    "MessagesFailing": (during(decisions__failed=200), during(decisions__failed=100, decisions__undelivered=900)),
    "RouteDead": (during(dead_routes=1, decisions__sent=0), during(dead_routes=0, unavailable=5)),
    "ProviderPaused": (during(providers__backup__breaker="open"), beats(9, **IDLE) + beats(2, begin=9, providers__main__breaker="open") + beats(9, begin=11, **IDLE)),
    "ProviderFailing": (during(providers__backup__misconfigured=3), during(regions__US__unknown=60, decisions__unknown=60, providers__main__refused=60)),
    "NoHeartbeat": (beats(10) + beats(10, begin=10, workers=("host-1",)), beats(10) + ended("host-2") + beats(10, begin=10, workers=("host-1",))),
    "DeadLetters": (during(dead_letters=1), CALM),
    "RecordsLost": (lost("receipts.records_lost"), lost("kafka.lost")),
    "CodeMismatch": (lost("send.code_mismatch"), lost("send.unknown")),
    "ClockHeld": (CALM + [samples.line(605, "clock.held", "error", lead_ms=90_000)],
                  CALM + [samples.line(605, "clock.off", "warning", lead_ms=9_000)]),
    "MaintenanceOverdue": (CALM + [samples.line(605, "maintenance.overdue", "warning", age_ms=7_200_000)],
                           CALM + [samples.line(605, "sweep.taken_over", "info", sends=1)]),
    "LongSnapshot": (during(oldest_snapshot_ms=1_900_000), during(oldest_snapshot_ms=1_700_000)),
    "DatabaseErrors": (during(errors__postgres=1), during(errors__kafka=9)),
    "KafkaErrors": (during(errors__kafka=1), beats(5) + [samples.worker_stats(300, errors__kafka=10)] + during(errors__postgres=9)[60:]),
    "TopicRefused": (during(topic_faults={"publish": {"verification.deliveries": "too_few_in_sync"}}), lost("publish.failed")),
    "RefusalSpike": (during(decisions__rejected=400), during(decisions__rejected=200)),
    "BudgetWarned": (CALM + [samples.line(605, "budget.warned", "warning", tenant="default", budget="all-day", percent=80)],
                     CALM + [samples.line(605, "budget.kept", "warning", error="connection")]),
    "BudgetExhausted": (CALM + [samples.line(605, "budget.exhausted", "error", tenant="default", budget="all-day")],
                        CALM + [samples.line(605, "budget.warned", "warning", tenant="default", budget="all-day", percent=95)]),
    # The quiet days are a weekend, and a median knows them for what they are.
    "SpendSpike": (week("20.00", "21.50", "19.00", "18.00", "4.00", "3.00", "22.00", "66.5"),
                   week("20.00", "21.50", "19.00", "18.00", "4.00", "3.00", "2.00", "53")),
    "BrakeTripped": (during(brake__blocked=1), TRIPPED + during(brake__recorded=20)),
    "BrakeReaderBehind": (during(brake__reader_lag_ms=95_000), beats(5) + beats(1, begin=5, brake__reader_lag_ms=95_000) + beats(14, begin=6)),
    "ConversionLow": (CALM + [samples.line(605, "conversion.low", "warning", tenant="default", region="GB", expected=40, observed=3)],
                      CALM + [samples.line(605, "brake.asleep", "warning", tenant="default", approvals=7)]),
    "RouteSilent": (CALM + [samples.line(605, "route.silent", "warning", tenant="default", region="GB", provider="main", expected=12, observed=0)],
                    CALM + [samples.line(605, "route.recovered", "notice", tenant="default", region="GB", provider="main", expected=5, observed=4)]),
    "DueSendsGrowing": (during(due_sends=2500), beats(3) + beats(4, begin=3, due_sends=2500) + beats(8, begin=7)),
    "OutboxGrowing": (during(outbox=5000), beats(3) + beats(4, begin=3, outbox=9000) + beats(8, begin=7)),
}

# Lines that fire an alert and are not worth a name of their own.
ALSO = {
    "UnknownOutcomes": [during(decisions={"unknown": 30})],
    "RecordsLost": [lost("kafka.records_lost")],
    "TopicRefused": [during(topic_faults={"read": {"verification.requests": "not_authorized"}}),
                     lost("kafka.group_shared"), lost("receipts.group_shared")],
    "BrakeTripped": [during(brake__half_open=3), TRIPPED + during(brake__half_open=1)],
    "DueSendsGrowing": [beats(9, ("host-1",), due_sends=2500) + apart(beats(9, ("host-2",)))],
    "OutboxGrowing": [beats(9, ("host-1",), outbox=5000) + apart(beats(9, ("host-2",)))],
    "MessagesFailing": [few(every=60, failed=1), during(decisions={"failed": 30})],
    "RouteDead": [during(dead_routes=1), night(unavailable=1), night(dead_routes=1)],
    "ProviderPaused": [during(providers__main__breaker="open")],
    "RefusalSpike": [beats(20, repeats=900), older(beats(20, decisions__rejected=260)),
                     beats(20, ("host-1",), repeats=900) + older(beats(20, ("host-2",), requests=20))],
    "NoHeartbeat": [beats(10, ("host-1", "host-2", "host-3")) + ended("host-2") + beats(10, ("host-1",), begin=10),
                    beats(10) + ended("host-2", "worker.failed") + beats(10, ("host-1",), begin=10),
                    beats(10) + ended("host-1") + beats(10, ("host-1",), begin=10),
                    beats(5) + [samples.line(700, "policy.reloaded")]],
}

# Further lines that come near an alert and do not fire it.
NEAR = {
    "RouteDead": [in_turn({}, {"dead_routes": 1}, seconds=40), night(unavailable=0)],
    "MessagesFailing": [few(every=70, failed=1)],
    "RefusalSpike": [older(beats(20, decisions__rejected=240)), beats(20, repeats=1000, decisions__rejected=0)],
    "OutboxGrowing": [during(outbox=4999)],
    "RequestsUnread": [during(oldest_unread_ms=30_000)],
    "TopicRefused": [lost("kafka.reads_again"), lost("kafka.error")],
}

# Events whose lines tell of something that is over with them, so that nothing lasts.
ONCE = {"worker.stopped", "worker.drain_timeout", "worker.ended", "kafka.records_lost", "receipts.records_lost",
        "send.code_mismatch"}

# Events that only name the parts of an alert, which lasts by a gauge of the heartbeats.
NAMES = {"brake.tripped", "brake.half_open"}

# Heartbeats in which more than one partition, provider or outcome is affected: for each alert its lines, and the parts of
# what it prints that must be there.
SEVERAL = [
    ("LagGrowing", in_turn({"lag": {"0": 1200, "7": 900_000}}, {"lag": {"0": 10, "7": 900_000}}), ["value=900000"]),
    ("LagGrowing", in_turn({"lag": {"0": 1200, "7": 1500}}, {"lag": {"0": 10, "7": 1500}}), ["value=1500"]),
    ("ProviderPaused", during(providers__backup__breaker="open", providers__main__breaker="open"),
     ['provider="backup"', 'provider="main"']),
    ("ProviderPaused", during(providers__main__breaker="open", **IDLE), ['provider="main"']),
    ("ProviderPaused", one(providers__main__breaker="open")
     + beats(6, ("host-2",), providers__backup__breaker="open", providers__main__breaker="open"), ['provider="main" value=1']),
    ("ProviderFailing", one(providers__main__notSent=1, providers__main__misconfigured=600), ['provider="main"']),
    ("ProviderFailing", one(providers__main__misconfigured=1, providers__main__unknown=600), ['provider="main"']),
    ("ProviderFailing", one(providers__main__notSent=1, providers__main__unknown=1), ['provider="main" value=60']),
    ("ProviderFailing", one(providers__backup__unknown=1, providers__main__unknown=600), ['provider="main"']),
    ("ProviderFailing", one(providers={name: {"unknown": 2, "breaker": "closed"} for name in "abcd"}),
     [f'provider="{name}"' for name in "abcd"]),
    ("BrakeTripped", TRIPPED + during(brake__half_open=1), ['region="GB" scope="prefix" tenant="shop"']),
]


def printed(lines):
    return list(check.check(check.read(lines, "sample"), ALERTS))


def fired(lines):
    return {text.split()[0] for text in printed(lines)}


def test_several(fault):
    """An alert also fires for the second and later affected parts of a heartbeat."""
    for name, lines, parts in SEVERAL:
        texts = [text for text in printed(lines) if text.startswith(f"{name} ")]
        for part in parts:
            if not any(f" {part} " in text for text in texts):
                fault(f"{name} does not fire with {part}: {texts}")


def test_samples(fault):
    if found := fired(CALM):
        fault(f"calm lines fire {sorted(found)}")
    for name in sorted({alert["name"] for alert in ALERTS} ^ set(CASES)):
        fault(f"{name}: in alerts.yaml or in the cases, but not in both")
    for name, (firing, near) in CASES.items():
        for lines in [firing, *ALSO.get(name, [])]:
            if name not in fired(lines):
                fault(f"{name} does not fire on lines that it is for")
        if any(name in fired(lines) for lines in [near, *NEAR.get(name, [])]):
            fault(f"{name} fires on lines that only come near")


# For the alerts of an outage its heartbeats.
OUTAGES = {
    "RouteDead": {"dead_routes": 1, "decisions": {"sent": 0, "failed": 9}, "unavailable": 9},
    "MessagesFailing": {"decisions": {"sent": 0, "failed": 9}},
    "ProviderPaused": {"providers__main__breaker": "open"},
    "ProviderFailing": {"providers__main__notSent": 9},
    "DatabaseErrors": {"errors__postgres": 9},
    "KafkaErrors": {"errors__kafka": 9},
    "TopicRefused": {"topic_faults": {"publish": {"verification.deliveries": "too_few_in_sync"}}},
}
MINUTE = 60

# For other alerts that end with their cause: lines whose cause ends at the fifteenth minute.
ENDING = {
    "NoHeartbeat": beats(20, ("host-1",)) + beats(10, ("host-2",)) + beats(5, ("host-3",), begin=15),
    "BrakeTripped": TRIPPED + during(brake__half_open=1),
    "ClockHeld": CALM + [samples.line(second, "clock.held", "error", lead_ms=90_000)
                         for second in range(5 * MINUTE, 15 * MINUTE, 35)],
}


def test_outages(fault):
    """An alert of an outage from the fifth to the fifteenth minute ends within a minute of it, and names its subject."""
    for alert in ALERTS:
        if not (changes := OUTAGES.get(alert["name"])):
            continue
        log = logql.Log(check.read(during(**changes), "sample"))
        first, last = log.lines[0][0], log.lines[-1][0]
        found = check.firing(alert, log, first, last)
        if not found or max(entry["to"] for entry in found) - first > 15 * MINUTE + MINUTE:
            fault(f"{alert['name']} lasts longer than a minute after its outage: {found}")
        if alert["name"] == "RouteDead" and min(entry["from"] for entry in found) - first > 5 * MINUTE + MINUTE:
            fault(f"RouteDead comes later than a minute after the last message: {found}")
        if alert["name"] != "MessagesFailing" and not all({"worker", "provider"} & set(entry["labels"]) for entry in found):
            fault(f"{alert['name']} names neither a worker nor a provider: {found}")


def test_ending(fault):
    """An alert by lines of its own, or by their absence, ends within a minute of its cause."""
    for name, lines in ENDING.items():
        log = logql.Log(check.read(lines, "sample"))
        found = check.firing(*(alert for alert in ALERTS if alert["name"] == name), log, log.lines[0][0], log.lines[-1][0])
        if len(found) != 1 or found[0]["to"] - log.lines[0][0] > 15 * MINUTE + MINUTE:
            fault(f"{name} lasts longer than a minute after its cause: {found}")


def test_lasting(fault):
    """An alert by a line that is written again fires once, for as long as the fault lasts."""
    for alert in ALERTS:
        tree = logql.Parser(table.condition(alert)).parse()
        for event in {event for stages in pipelines(tree) for event in names(stages)[0]} - ONCE - NAMES - {"worker.stats"}:
            if not (interval := AGAIN.get(event)):
                fault(f"{alert['name']}: {event} is written once, and its fault may last")
                continue
            # A worker looks every few seconds, so a line may be late.
            lines = [samples.line(second, event, "error") for second in range(0, 4 * interval, interval + 10)]
            log = logql.Log(check.read(lines, "sample"))
            fired = check.firing(alert, log, log.lines[0][0], log.lines[-1][0])
            if len(fired) != 1:
                fault(f"{alert['name']} fires {len(fired)} times in one fault that {event} tells of every {interval} s")


def pipelines(tree):
    """The stages of each range of a query."""
    if isinstance(tree, tuple):
        if tree and tree[0] == "over_time":
            yield tree[2]
        else:
            for part in tree:
                yield from pipelines(part)


def names(stages):
    """The events that a pipeline reads, and the paths of the fields; a pattern has no more of them than their names."""
    events, paths = [], []
    for stage in stages:
        if stage[0] == "json":
            paths += [path.replace("{provider}", "main") for _, path in stage[1]]
        elif stage[0] in ("contains", "matches", "regexp"):
            if found := re.search(r'"event":"([a-z_.()|]+)"', stage[1]):
                parts = [part.split("|") for part in re.split(r"[()]", found[1])]
                events = ["".join(words) for words in itertools.product(*parts)]
            else:
                paths += re.findall(r'^"([a-z_]+)":', stage[1])
    return events, paths


def test_fields(fault):
    """Every field stands in the shape of its event, and every event in the catalogue."""
    known = {entry["event"]: set(entry["fields"]) | COMMON for entry in EVENTS}
    if unknown := (set(samples.STATS) | COMMON) ^ known["worker.stats"]:
        fault(f"the samples' heartbeat and the catalogue's differ in {sorted(unknown)}")
    for place, tree in table.trees(TABLE):
        for event, paths in ((event, paths) for events, paths in map(names, pipelines(tree)) for event in events):
            if event not in known:
                fault(f"{place}: nothing logs {event}")
                continue
            for path in paths:
                first = logql.steps(path)[0]
                if event == "worker.stats" and logql.value_at(samples.STATS, path) == "":
                    fault(f"{place}: no heartbeat has {path}")
                elif first not in known[event]:
                    fault(f"{place}: {event} has no {first}")


def test_pages(fault):
    """Each alert has a runbook under its name."""
    page = (ROOT / "docs" / "operators.md").read_text("utf-8")
    headings = set(re.findall(r"^### `?(\w+)`?\s*$", page, re.MULTILINE))
    for alert in ALERTS:
        if alert["name"] not in headings:
            fault(f"docs/operators.md has no heading ### {alert['name']}")


def test_generated(fault):
    for name in generate.stale():
        fault(f"deploy/alerts/{name} is not what alerts.yaml says: run deploy/alerts/generate.py")
    for panel in generate.dashboard(TABLE)["panels"]:
        for query in (target["expr"].replace("${provider:raw}", "eu-1.x") for target in panel["targets"]):
            try:
                logql.Parser(query).parse()
            except logql.QueryError as error:
                fault(f"{panel['title']}: {error}, for a provider called eu-1.x")
            if "${" in query:
                fault(f"{panel['title']}: Grafana would escape the variable in {query}")


# Loki takes none of these.
NO_PATHS = ("of.eu-1.n", "of.", ".n", "of..n", "1", "of.1", "of n", "of[n]", "")


def test_queries(fault):
    """The evaluator refuses queries that it does not support."""
    for query in ("rate({a=\"b\"}[5m])", "sum(count_over_time({a=\"b\"} | logfmt [5m]))", "sum(count_over_time({a=\"b\"}[5m])",
                  "sum_over_time({a=\"b\"}[5m])", "count_over_time({a=\"b\"} | label_format c=\"{{.d}}\" [5m])",
                  *(f"count_over_time({{a=\"b\"}} | json n=\"{path}\" [5m])" for path in NO_PATHS)):
        try:
            logql.Parser(query).parse()
        except logql.QueryError:
            continue
        fault(f"the query {query} is taken though it is not known")
    lines = [(float(second), json.dumps({"n": second, "who": "ab"[second % 2], "of": {"eu-1.x": {"n": 2}}}))
             for second in range(10)]
    source = '{a="b"} | json n="n", who="who" | unwrap n [5s]'
    for query, expected in {
        f"sum by (who) (sum_over_time({source})) > 15": [("b", 21.0)],
        f"sum(max_over_time({source})) + 1": [(None, 18.0)],
        "sum(count_over_time({a=\"b\"} [5s]) or count_over_time({a=\"b\"} | label_format c=\"d\" [5s]))": [(None, 10.0)],
        "sum(sum_over_time({a=\"b\"} | json n=\"of[\\\"eu-1.x\\\"].n\" | unwrap n [5s]))": [(None, 10.0)],
        f"2 * min(min_over_time({source})) - 1 + 2": [(None, 11.0)],
        'sum(count_over_time({a="b"} [5s] offset 7s))': [(None, 3.0)],
        'sum(count_over_time({a="b"} [5s])) unless on () sum by (who) (count_over_time({a="b"} | json who="who" [5s]))': [],
        'sum(count_over_time({a="b"} [5s])) unless on () sum(count_over_time({a="b"} [5s] offset 20s))': [(None, 5.0)],
        f"sum by (who) (sum_over_time({source})) and on () sum(count_over_time({{a=\"b\"}} [5s]))": [("a", 14.0), ("b", 21.0)],
        f"sum by (who) (sum_over_time({source})) and on () sum(count_over_time({{a=\"b\"}} [5s] offset 20s))": [],
        f"sum by (who) (sum_over_time({source})) or on () sum(count_over_time({{a=\"b\"}} [5s]))": [("a", 14.0), ("b", 21.0)],
        'sum(count_over_time({a="b"} [5s] offset 20s)) or on () sum(count_over_time({a="b"} [5s]))': [(None, 5.0)],
        f"sum by (who) (count_over_time({{a=\"b\"}} | json who=\"who\" [5s])) / on () group_left () sum(count_over_time({{a=\"b\"}} [5s]))": [("a", 0.4), ("b", 0.6)],
    }.items():
        values = logql.Log(lines).evaluate(logql.Parser(query).parse(), 9.0)
        found = sorted(((dict(labels).get("who"), value) for labels, value in values.items()), key=str)
        if found != expected:
            fault(f"{query} is {found}, expected {expected}")


TABLE = table.load()
ALERTS = TABLE["alerts"]
CATALOGUE = json.loads((ROOT / "schemas" / "log-events.json").read_text("utf-8"))
EVENTS = CATALOGUE["events"]
COMMON = {field["name"] for field in CATALOGUE["common"]}
# After how many seconds a worker writes a line again while its fault lasts.
AGAIN = {entry["event"]: entry["again_s"] for entry in EVENTS if "again_s" in entry}

if __name__ == "__main__":
    faults = []
    for test in (test_queries, test_fields, test_generated, test_pages, test_samples, test_several,
                 test_lasting, test_outages, test_ending):
        test(faults.append)
    for text in faults:
        print(f"error: {text}", file=sys.stderr)
    if faults:
        sys.exit(1)
    print(f"alerts: {len(ALERTS)} fire on what they are for, and on nothing else")
