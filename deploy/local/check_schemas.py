#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks schemas/kafka against JSON Schema's own rules and against the examples beside them.

An example's name begins with the name of its schema. Those under examples/ must be valid; those under
examples/invalid/ must break exactly the rule that index.json names, as `<path> <keyword>`. Every schema must mean the
same to a reader of draft-07, which is all that AsyncAPI's tools have to know.
"""

import json
import pathlib
import sys

from jsonschema import Draft7Validator, Draft202012Validator

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "schemas" / "kafka"

# The keywords that mean the same in draft-07 and in 2020-12.
KEYWORDS = set(
    "$schema $id title description type properties required enum const default pattern format additionalProperties "
    "minimum maximum minLength maxLength minItems maxItems items minProperties maxProperties allOf anyOf oneOf not "
    "if then else".split()
)


def schemas_within(schema):
    """The schema and every schema inside it, by the keywords that hold schemas."""
    if not isinstance(schema, dict):
        return
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from schemas_within(inner)
    for keyword in ("allOf", "anyOf", "oneOf"):
        for inner in schema.get(keyword, []):
            yield from schemas_within(inner)
    for keyword in ("additionalProperties", "items", "not", "if", "then", "else"):
        yield from schemas_within(schema.get(keyword))


def broken_rules(validator, value):
    return {f"{error.json_path.replace(chr(39), '').replace('[', '.').replace(']', '')} {error.validator}"
            for error in validator.iter_errors(value)}


def check(faults):
    validators = {}
    for path in sorted(FOLDER.glob("*.schema.json")):
        schema = json.loads(path.read_text("utf-8"))
        Draft202012Validator.check_schema(schema)
        Draft7Validator.check_schema({**schema, "$schema": "http://json-schema.org/draft-07/schema#"})
        for unknown in sorted({word for inner in schemas_within(schema) for word in inner} - KEYWORDS):
            faults.append(f"{path.name}: {unknown} does not mean the same in draft-07")
        name = path.name.removesuffix(".schema.json")
        validators[name] = (Draft202012Validator(schema), Draft7Validator(schema))

    index = json.loads((FOLDER / "examples" / "invalid" / "index.json").read_text("utf-8"))
    found = {path.name for path in (FOLDER / "examples" / "invalid").glob("*.json")} - {"index.json"}
    for name in sorted(found ^ set(index)):
        faults.append(f"examples/invalid/{name}: in the folder or in index.json, but not in both")

    used = set()
    examples = [(path, set()) for path in sorted((FOLDER / "examples").glob("*.json"))]
    examples += [(FOLDER / "examples" / "invalid" / name, {index[name]}) for name in sorted(found & set(index))]
    for path, expected in examples:
        kind = path.name.split(".")[0]
        used.add((kind, bool(expected)))
        value = json.loads(path.read_text("utf-8"))
        for validator in validators[kind]:
            broken = broken_rules(validator, value)
            if broken != expected:
                faults.append(f"{path.name}: breaks {sorted(broken)}, expected {sorted(expected)}")
    for kind in validators:
        for invalid in (False, True):
            if (kind, invalid) not in used:
                faults.append(f"{kind}: no {'invalid' if invalid else 'valid'} example")
    return len(examples)


if __name__ == "__main__":
    faults = []
    count = check(faults)
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    if faults:
        sys.exit(1)
    print(f"schemas: {count} examples are as they should be")
