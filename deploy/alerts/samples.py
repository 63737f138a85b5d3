# SPDX-License-Identifier: Apache-2.0
"""Log lines as workers write them, for the tests of the alerts.

`worker_stats` is the shape that every expression is checked against: a field that is not in it does not exist.
"""

import copy
import datetime
import json

START = datetime.datetime(2026, 11, 20, 12, 0, tzinfo=datetime.timezone.utc)

STAGES = ("intake", "queue", "dispatch", "provider", "record", "publish", "request_to_provider", "request_to_event")

STATS = {
    "worker.id": "host-1",
    "interval_ms": 10_000,
    "uptime_ms": 600_000,
    "requests": 1000,
    "repeats": 20,
    "decisions": {
        "sent": 950, "suppressed": 10, "rejected": 40, "expired_unsent": 0, "failed": 0, "unknown": 0, "delivered": 900,
        "undelivered": 5, "expired": 3, "approved": 0, "locked": 0,
    },
    "unavailable": 0,
    "regions": {"US": {"sent": 600, "rejected": 10}, "GB": {"sent": 350, "rejected": 30}},
    "providers": {
        "backup": {
            "accepted": 50, "notSent": 0, "throttled": 0, "refused": 0, "impossible": 0, "optedOut": 0, "fraud": 0, "misconfigured": 0,
            "unknown": 0, "breaker": "closed", "score": 100,
        },
        "main": {
            "accepted": 900, "notSent": 0, "throttled": 0, "refused": 4, "impossible": 1, "optedOut": 0, "fraud": 0, "misconfigured": 0,
            "unknown": 0, "breaker": "closed", "score": 100,
        },
    },
    "dead_routes": 0,
    "rules": {"quota_recipient": 30, "region_not_allowed": 10},
    "brake": {"blocked": 0, "half_open": 0, "refused": 0, "recorded": 0, "reader_lag_ms": 6100},
    "spend": {"USD": {"amount": "71.25", "regions": {"US": "45.00", "GB": "26.25"}, "budgets": {"default/all-day": "71.25"}}},
    "feedback": {"confirmed": 0, "failed": 0, "dropped": 0},
    "unread_hints": {"languageCode": 2},
    "dead_letters": 0,
    "in_flight": 40,
    "max_in_flight": 1024,
    "outbox": 12,
    "due_sends": 3,
    "oldest_snapshot_ms": 1200,
    "lag": {"0": 4, "1": 2},
    "oldest_unread_ms": 12,
    "topic_faults": {},
    "latency_ms": {stage: {"count": 1000, "p50": 4.1, "p90": 9.5, "p99": 31.0, "max": 80.2} for stage in STAGES},
    "errors": {"postgres": 0, "kafka": 0},
    "rss_bytes": 61_000_000,
    "cpu_ms": 2100,
}


def line(seconds, event, severity="info", **fields):
    """One line in format json, so many seconds after the start."""
    time = START + datetime.timedelta(seconds=seconds)
    head = {"timestamp": time.isoformat(timespec="microseconds").replace("+00:00", "Z"), "severity": severity,
            "event": event, "message": event, "worker.id": STATS["worker.id"]}
    return json.dumps(head | fields, separators=(",", ":"))


def worker_stats(seconds, **changes):
    """A heartbeat; a change names its field by the path, `decisions__unknown=5` or `worker__id` for `worker.id`."""
    stats = copy.deepcopy(STATS)
    if "worker" in changes:
        stats["worker.id"] = changes.pop("worker")
    for path, value in changes.items():
        *parents, last = path.split("__")
        place = stats
        for parent in parents:
            place = place[parent]
        place[last] = value
    return line(seconds, "worker.stats", **stats)
