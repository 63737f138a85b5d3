#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the validators that users run against schemas/: each takes and refuses the same messages.

  check_validators.py TOOLS    TOOLS holds check.cjs (ajv, AsyncAPI's parser, Grafana's LogQL) and jv (Go); see below

Each of ajv, jv, and check-jsonschema and jsonschema of PyPI compiles every schema, takes the examples and the valid rows
of the table of inputs, and refuses the others. AsyncAPI's parser has nothing to say about asyncapi.yaml, and Loki's
grammar reads the queries of alerts and dashboard.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
KAFKA = ROOT / "schemas" / "kafka"


def main(tools):
    validators = {
        "ajv": lambda schema, files: by_name(["node", tools / "check.cjs", "schema", schema], files, is_quiet=True),
        "jv": lambda schema, files: by_name([tools / "jv", schema], files),
        "check-jsonschema": check_jsonschema,
        "jsonschema": python_jsonschema,
    }
    faults, judged = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for schema in sorted(KAFKA.glob("*.schema.json")):
            files = messages(schema.name.split(".")[0], pathlib.Path(folder))
            judged += len(files)
            for name, refused_by in validators.items():
                refused, others = refused_by(schema, [str(path) for path in files])
                faults += [f"{name}: {schema.name}: {text}" for text in others]
                faults += [f"{name}: {schema.name}: {label}: {'refused' if is_valid else 'taken'}"
                           for path, (label, is_valid) in files.items() if (path in refused) == is_valid]
    for schema in sorted((ROOT / "schemas").glob("*.schema.json")):
        for command in (["node", tools / "check.cjs", "schema", schema], [tools / "jv", schema]):
            faults += failure(command)
    faults += failure(["node", tools / "check.cjs", "asyncapi", ROOT / "schemas" / "asyncapi.yaml"], is_quiet=True)
    faults += failure(["node", tools / "check.cjs", "logql", ROOT / "deploy" / "alerts" / "loki-rules.yaml",
                       ROOT / "deploy" / "alerts" / "dashboard.json"], is_quiet=True)
    return faults, len(validators), judged


def messages(kind, folder):
    """The messages of a kind as files, each with what it is called and whether it is valid."""
    found = {str(path): (path.name, True) for path in sorted((KAFKA / "examples").glob(f"{kind}.*.json"))}
    found |= {str(path): (path.name, False) for path in sorted((KAFKA / "examples" / "invalid").glob(f"{kind}.*.json"))}
    table = KAFKA / "examples" / "agreement" / f"{kind}s.json"
    for number, row in enumerate(json.loads(table.read_text("utf-8")) if table.exists() else []):
        path = folder / f"{kind}.{number:04}.json"
        path.write_text(json.dumps(row["request"]), "utf-8")
        found[str(path)] = (row["name"], row["valid"])
    return found


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def by_name(command, files, is_quiet=False):
    """The files that a validator's output names, and what it says besides; some explain each refusal in lines below it."""
    _, output, errors = run([*command, *files])
    refused = {line.split(": ", 1)[0] for line in output.splitlines()} & set(files)
    others = errors.splitlines()
    if is_quiet or not refused:
        others += [line for line in output.splitlines() if line.split(": ", 1)[0] not in refused]
    return refused, others


def check_jsonschema(schema, files):
    program = pathlib.Path(sys.executable).with_name("check-jsonschema")
    _, output, errors = run([program, "--schemafile", schema, "--output-format", "json", *files])
    try:
        answer = json.loads(output)
    except ValueError:
        return set(), [output + errors]
    return {error["filename"] for error in answer["errors"]}, errors.splitlines() + answer.get("parse_errors", [])


def python_jsonschema(schema, files):
    validator = jsonschema.Draft202012Validator(json.loads(schema.read_text("utf-8")))
    return {path for path in files if not validator.is_valid(json.loads(pathlib.Path(path).read_text("utf-8")))}, []


def failure(command, is_quiet=False):
    """The output of a program that fails; with `is_quiet` the output of one that succeeds, too."""
    code, output, errors = run(command)
    return [f"{command[-1]}: {line}" for line in (output + errors).splitlines() or [f"ends with {code}"]
            if code != 0 or is_quiet and output + errors]


if __name__ == "__main__":
    faults, validators, judged = main(pathlib.Path(sys.argv[1]))
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    if faults:
        sys.exit(1)
    print(f"validators: {validators} agree about {judged} messages")
