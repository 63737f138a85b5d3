# SPDX-License-Identifier: Apache-2.0
"""Reads alerts.yaml."""

import pathlib
import sys

import logql

try:
    import yaml
except ImportError:
    sys.exit("PyYAML is missing: apt install python3-yaml")

FOLDER = pathlib.Path(__file__).resolve().parent
KEYS = {"name", "severity", "condition", "expression", "is", "threshold", "for", "unit"}


def load():
    """The table, with the selector in its expressions."""
    table = yaml.safe_load((FOLDER / "alerts.yaml").read_text("utf-8"))
    for alert in table["alerts"]:
        if unknown := set(alert) - KEYS:
            sys.exit(f"alerts.yaml: {alert.get('name')} has {sorted(unknown)}")
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
