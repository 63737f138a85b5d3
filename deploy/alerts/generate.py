#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes loki-rules.yaml and dashboard.json from alerts.yaml; with --check it only says whether they are as they should be."""

import json
import re
import sys

import yaml

import table

RUNBOOK = "docs/operators.md"
DATASOURCE = {"type": "loki", "uid": "${datasource}"}
WIDTH, HEIGHT, COLUMNS = 8, 8, 3
# An alert of a part names it.
SUBJECT = "".join(f"{{{{ with $labels.{label} }}}} {label.title()}: {{{{ . }}}}.{{{{ end }}}}" for label in ("tenant", "scope", "region", "provider", "worker"))
HEAD = "# SPDX-License-Identifier: Apache-2.0\n# Made from alerts.yaml by generate.py: do not edit.\n"


def rules(alerts):
    """The rule file of Loki's ruler."""
    return {"groups": [{"name": "code-courier", "interval": "30s", "rules": [
        {
            "alert": alert["name"],
            "expr": table.condition(alert),
            "for": alert["for"],
            "labels": {"severity": alert["severity"], "service": "code-courier"},
            "annotations": {"summary": alert["condition"] + SUBJECT, "runbook": f"{RUNBOOK}#{alert['name'].lower()}"},
        }
        for alert in alerts
    ]}]}


def target(name, query, place):
    grouped = re.search(r"by \((\w+)\)", query)
    return {"datasource": DATASOURCE, "refId": chr(ord("A") + place), "queryType": "range",
            # Grafana would escape a name's points and dashes for a regular expression, which a path is not.
            "expr": query.replace("{provider}", "${provider:raw}"),
            "legendFormat": f"{{{{{grouped[1]}}}}}" if grouped else name}


def panel(place, title, unit, queries, description="", threshold=None):
    steps = [{"color": "green", "value": None}]
    if threshold is not None:
        steps.append({"color": "red", "value": threshold})
    return {
        "id": place + 1, "type": "timeseries", "title": title.replace("{provider}", "${provider}"),
        "description": description, "datasource": DATASOURCE,
        "gridPos": {"x": place % COLUMNS * WIDTH, "y": place // COLUMNS * HEIGHT, "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"overrides": [], "defaults": {
            "unit": unit, "min": 0, "thresholds": {"mode": "absolute", "steps": steps},
            "custom": {"thresholdsStyle": {"mode": "off" if threshold is None else "line"}, "spanNulls": False}}},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": [target(name, query, number) for number, (name, query) in enumerate(queries.items())],
    } | ({"repeat": "provider", "repeatDirection": "h", "maxPerRow": COLUMNS} if "{provider}" in title else {})


def dashboard(content):
    """Grafana's dashboard: what the fleet does, then one panel for each alert with its threshold."""
    # A repeated panel takes a row of its own, so it comes last of its kind.
    panels = sorted(content["panels"], key=lambda entry: "{provider}" in entry["title"])
    drawn = [(entry["title"], entry["unit"], entry["series"], "", None) for entry in panels]
    drawn += [(alert["name"], alert.get("unit", "short"), {alert["name"]: alert["expression"]}, alert["condition"],
               alert["threshold"]) for alert in content["alerts"]]
    return {
        "uid": "code-courier", "title": "code-courier", "tags": ["code-courier"], "schemaVersion": 39, "version": 1,
        "editable": True, "refresh": "30s", "time": {"from": "now-3h", "to": "now"}, "timezone": "utc",
        "templating": {"list": [
            {"name": "datasource", "type": "datasource", "query": "loki", "label": "Loki"},
            {"name": "provider", "type": "custom", "query": "main,backup", "label": "Providers (edit to your names)",
             "multi": True, "includeAll": True, "current": {"text": ["All"], "value": ["$__all"]}},
        ]},
        "panels": [panel(place, *entry) for place, entry in enumerate(drawn)],
    }


def files():
    content = table.load()
    return {
        "loki-rules.yaml": HEAD + yaml.safe_dump(rules(content["alerts"]), sort_keys=False, width=1000),
        "dashboard.json": json.dumps(dashboard(content), indent=1) + "\n",
    }


def stale():
    """The files that are not what the table says."""
    return [name for name, text in files().items()
            if not (table.FOLDER / name).exists() or (table.FOLDER / name).read_text("utf-8") != text]


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        for name in stale():
            sys.stderr.write(f"deploy/alerts/{name} is not what alerts.yaml says: run deploy/alerts/generate.py\n")
        sys.exit(1 if stale() else 0)
    for name, text in files().items():
        (table.FOLDER / name).write_text(text, "utf-8")
