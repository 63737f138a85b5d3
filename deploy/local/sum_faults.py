#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the lines of a fault report and one that sums them up; fails when a promise was broken or nothing ran."""

import json
import sys

COUNTS = ["requests", "faults", "lost", "duplicate_sms", "unknown", "stale_writes", "violations"]

try:
    with open(sys.argv[1], encoding="utf-8") as report:
        lines = [line.strip() for line in report if line.strip()]
except OSError as fault:
    sys.exit(f"error: there is no fault report: {fault}")

scenarios = [json.loads(line) for line in lines]
summary = {"scenario": "summary", "scenarios": len(scenarios)}
for count in COUNTS:
    summary[count] = sum(int(scenario[count]) for scenario in scenarios)

for line in lines:
    print(line)
print(json.dumps(summary, separators=(",", ":")))
if not scenarios or summary["lost"] or summary["stale_writes"] or summary["violations"]:
    sys.exit(1)
