#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks schemas/kafka against JSON Schema's own rules and against the examples beside them.

An example's name begins with the name of its schema. Those under examples/ must be valid; those under
examples/invalid/ must break exactly the rule that index.json names, as `<path> <keyword>`. The schema of requests must
agree with the table of inputs that the reader is tested with. Every schema must mean the same to a reader of draft-07,
which is all that AsyncAPI's tools have to know, and its patterns the same in every language; those that consumers read
must take what later versions may add. check-schemas.sh asks the validators that users run.
"""

import copy
import json
import pathlib
import re
import sys

from jsonschema import Draft7Validator, Draft202012Validator

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "schemas" / "kafka"

AGREEMENT = FOLDER / "examples" / "agreement" / "requests.json"

# The schemas that consumers read, and the lists of words that may become longer in them.
READ_BY_CONSUMERS = {"delivery": ("channel", "purpose", "reason", "send.encoding"), "dead-letter": ("dead-letter-reason",)}

# Syntax that ECMAScript, RE2, Java and Python do not all accept or do not read alike: the escapes u and p, escapes of
# characters that need none, the classes d, w, s and b, groups that look ahead or behind or have a name, references.
UNPORTABLE = re.compile(r"\\[^\\x^$.*+?()\[\]{}|]|\(\?")

# The keywords that mean the same in draft-07 and in 2020-12. An $id would become the name of generated types.
KEYWORDS = set(
    "$schema title description examples type properties required enum const default pattern format additionalProperties "
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


def check_patterns(name, schema, faults):
    for inner in schemas_within(schema):
        if UNPORTABLE.search(inner.get("pattern", "")):
            faults.append(f"{name}: not every language reads the pattern {inner['pattern']}")


def check_agreement(validators, faults):
    """The schema of requests takes the rows of the table that the reader takes, and no others."""
    rows = json.loads(AGREEMENT.read_text("utf-8"))
    if len({row["name"] for row in rows}) < len(rows):
        faults.append(f"{AGREEMENT.name}: two rows have one name")
    for row in rows:
        for validator in validators:
            if validator.is_valid(row["request"]) != row["valid"]:
                faults.append(f"{AGREEMENT.name}: “{row['name']}”: the schema says {'no' if row['valid'] else 'yes'}")
    return len(rows)


def later_versions(value, open_words):
    """A message as later versions of v1 may write it: a new field in each object, and a new word in each open list."""
    yield {**value, "new-field": [1]}
    for name, inner in value.items():
        if isinstance(inner, dict):
            yield {**value, name: {**inner, "newField": {}}}
    for path in open_words:
        changed = copy.deepcopy(value)
        *outer, name = path.split(".")
        place = changed
        for step in outer:
            place = place.get(step, {})
        if name in place:
            place[name] = "new_word"
            yield changed


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
        check_patterns(path.name, schema, faults)
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
            if kind in READ_BY_CONSUMERS and not expected:
                for later in later_versions(value, READ_BY_CONSUMERS[kind]):
                    for rule in sorted(broken_rules(validator, later)):
                        faults.append(f"{path.name}: as a later version may write it, it breaks {rule}")
    for kind in validators:
        for invalid in (False, True):
            if (kind, invalid) not in used:
                faults.append(f"{kind}: no {'invalid' if invalid else 'valid'} example")
    return len(examples), check_agreement(validators["request"], faults)


if __name__ == "__main__":
    faults = []
    examples, rows = check(faults)
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    if faults:
        sys.exit(1)
    print(f"schemas: {examples} examples and {rows} inputs are as they should be")
