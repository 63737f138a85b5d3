# SPDX-License-Identifier: Apache-2.0
"""Reads alerts.yaml."""

import itertools
import pathlib
import re
import sys

import logql

try:
    import yaml
except ImportError:
    sys.exit("PyYAML is missing: apt install python3-yaml")

FOLDER = pathlib.Path(__file__).resolve().parent
KEYS = {"name", "severity", "condition", "expression", "each", "of", "is", "threshold", "for", "unit"}


def each(alert, window):
    """The query that `{each 5m}` stands for: one for every combination of the texts, joined by `or`."""
    queries = []
    for texts in itertools.product(*alert["of"].values()):
        query = alert["each"].replace("{window}", window)
        for name, text in zip(alert["of"], texts):
            query = query.replace(f"{{{name}}}", text)
        queries.append(query)
    return " or ".join(queries)


def load():
    """The table, with the selector in its expressions and a query in them for each that may be affected."""
    table = yaml.safe_load((FOLDER / "alerts.yaml").read_text("utf-8"))
    for alert in table["alerts"]:
        if unknown := set(alert) - KEYS:
            sys.exit(f"alerts.yaml: {alert.get('name')} has {sorted(unknown)}")
        if "each" in alert:
            alert["expression"] = re.sub(
                r"\{each (\w+)\}", lambda found: each(alert, found[1]), alert["expression"])
        alert["expression"] = alert["expression"].replace("{stream}", table["stream"])
    for panel in table["panels"]:
        panel["series"] = {name: query.replace("{stream}", table["stream"]) for name, query in panel["series"].items()}
    return table


def condition(alert):
    """The whole query of an alert: it has a value while the alert's condition holds."""
    return f"({alert['expression']}) {alert['is']} {alert['threshold']}"


def trees(table):
    """Each query of the table with the name of its place."""
    for alert in table["alerts"]:
        yield alert["name"], logql.Parser(condition(alert)).parse()
    for panel in table["panels"]:
        for name, query in panel["series"].items():
            yield f"{panel['title']}: {name}", logql.Parser(query).parse()
