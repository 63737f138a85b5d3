#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Evaluates the alerts of alerts.yaml over log files in format json, without Loki.

  deploy/alerts/check.py worker-*.log
  journalctl --identifier code-courier --output cat --since -1h | deploy/alerts/check.py --until-now -

Each alert that fires is one line with its time, labels and value. Exit code 0: none fires, 1: some do, 2: the logs
cannot be read. The lines of the files are held in memory.
"""

import argparse
import datetime
import json
import sys

import logql
import table

STEP = 30


def time_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def read(stream, name):
    """Lines with their times; what a collector writes before the object is cut off. Ends when none is of a worker."""
    lines, broken = [], 0
    for text in stream:
        text = text[text.find("{"):].strip() if "{" in text else text.strip()
        if not text:
            continue
        try:
            document = json.loads(text)
            lines.append((time_of(document["timestamp"]), text))
        except (ValueError, KeyError, TypeError, AttributeError):
            broken += 1
    if not lines:
        sys.stderr.write(f"{name}: no line in format json: the alerts read log.format json\n")
        sys.exit(2)
    if broken:
        sys.stderr.write(f"{name}: {broken} of {broken + len(lines)} lines are not in format json and were skipped\n")
    return lines


def firing(alert, log, first, last):
    """(first time, last time, labels, greatest value) of each time that an alert fires."""
    tree = logql.Parser(table.condition(alert)).parse()
    duration = logql.seconds(alert["for"])
    holding, fired = {}, []
    moments = [first + STEP * step for step in range(int((last - first) // STEP) + 1)] + [last]
    for now in moments:
        values = log.evaluate(tree, now)
        for labels in set(holding) - set(values):
            holding.pop(labels)
        for labels, value in values.items():
            since, entry = holding.setdefault(labels, (now, None))
            if now - since < duration:
                continue
            if entry is None:
                entry = {"from": now, "labels": dict(labels), "value": value}
                fired.append(entry)
                holding[labels] = (since, entry)
            entry["to"] = now
            entry["value"] = max(entry["value"], value)
    return fired


def clock(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def check(lines, alerts, until=None):
    """The lines to print: one for each time that an alert fires."""
    log = logql.Log(lines)
    first, last = log.lines[0][0], max(log.lines[-1][0], until or 0)
    for alert in alerts:
        for entry in firing(alert, log, first, last):
            labels = "".join(f" {name}={json.dumps(value)}" for name, value in sorted(entry["labels"].items()))
            yield (f"{alert['name']} {alert['severity']} {clock(entry['from'])} to {clock(entry['to'])}{labels} "
                   f"value={entry['value']:g} ({alert['is']} {alert['threshold']}): {alert['condition']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("logs", nargs="+", metavar="LOGFILE", help="a log in format json; - is standard input")
    parser.add_argument("--only", metavar="ALERT", action="append", help="evaluate this alert alone; may be repeated")
    parser.add_argument("--until-now", action="store_true",
                        help="evaluate until now, not until the last line: finds workers that are silent")
    arguments = parser.parse_args()
    alerts = table.load()["alerts"]
    if unknown := set(arguments.only or []) - {alert["name"] for alert in alerts}:
        parser.error(f"no such alert: {', '.join(sorted(unknown))}")
    lines = []
    for name in arguments.logs:
        if name == "-":
            lines += read(sys.stdin, "standard input")
            continue
        try:
            with open(name, encoding="utf-8", errors="replace") as file:
                lines += read(file, name)
        except OSError as error:
            sys.stderr.write(f"{name}: {error.strerror}\n")
            sys.exit(2)
    now = datetime.datetime.now(datetime.timezone.utc).timestamp() if arguments.until_now else None
    chosen = [alert for alert in alerts if not arguments.only or alert["name"] in arguments.only]
    found = list(check(lines, chosen, now))
    for text in found:
        print(text)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
