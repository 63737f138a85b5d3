#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that schemas/kafka keeps the promise of docs/compatibility.md: v1 stays v1.

schemas/golden/v1 holds the schemas as v1 began, and messages of its time. Today's schemas must still take those
messages, and may differ from those of then only as the rule allows: what workers read must not become stricter, and what
they write keeps its fields, its types and its word in `status`. What a pattern or a condition says cannot be compared
word by word, so messages judge those: the golden ones, the examples, and the table of inputs that the reader is tested
with. The rule itself is checked first, against changes that it must allow and changes it must find.
"""

import copy
import json
import pathlib
import re
import sys

from jsonschema import Draft202012Validator

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "schemas"
GOLDEN = SCHEMAS / "golden" / "v1"
EXAMPLES = SCHEMAS / "kafka" / "examples"

READ = ("request", "receipt")
WRITTEN = ("delivery", "dead-letter")

# The lists of words that v1 may make longer, so that consumers' schemas need not name them all.
OPEN = {"delivery.reason", "delivery.channel", "delivery.purpose", "delivery.send.encoding",
        "dead-letter.dead-letter-reason"}

# The words that a closed list has won for those who switch them on (`events.approved`).
SWITCHED = {"delivery.status": {"approved", "locked"}}

WORDS = {"$schema", "$id", "title", "description", "examples"}
LOWER = {"minimum", "minLength", "minItems", "minProperties"}
UPPER = {"maximum", "maxLength", "maxItems", "maxProperties"}


def changes(old, new, path, written):
    """The differences that break the rule, as sentences."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return [] if old == new else [f"{path} is another schema"]
    found = []
    for keyword in sorted((old.keys() | new.keys()) - WORDS):
        before, after = old.get(keyword), new.get(keyword)
        if keyword == "properties":
            found += changed_properties(before or {}, after or {}, path, written)
        elif keyword == "required":
            before, after = set(before or ()), set(after or ())
            broken = before - after if written else after - before
            found += [f"{path}.{name} is {'no longer' if written else 'now'} required" for name in sorted(broken)]
        elif keyword == "enum":
            found += changed_words(before, after, path, written)
        elif keyword not in ("pattern", "allOf") and before != after and not may_differ(keyword, before, after, written):
            found.append(f"{path}: {keyword} has changed")
    return found


def changed_properties(before, after, path, written):
    found = [f"{path}.{name} is gone" for name in sorted(before.keys() - after.keys())]
    for name in sorted(before.keys() & after.keys()):
        found += changes(before[name], after[name], f"{path}.{name}", written)
    return found


def changed_words(before, after, path, written):
    """A list of words may grow or go in what is read, and where it is open in what is written; it never shrinks."""
    if after is None and before is not None:
        return [f"{path}: there is no list of words"] if written and path not in OPEN else []
    if before is None:
        return [f"{path}: there is now a list of words"]
    found = [f"{path}: the word {word} is gone" for word in sorted(set(before) - set(after))]
    if written and path not in OPEN:
        added = set(after) - set(before) - SWITCHED.get(path, set())
        found += [f"{path}: the word {word} is new in a closed list" for word in sorted(added)]
    return found


def may_differ(keyword, before, after, written):
    """True when a bound has moved, or come or gone, in the allowed direction."""
    if keyword in LOWER | UPPER:
        if before is None or after is None:
            # A new bound of what is read is for messages to judge.
            return after is not None or not written
        return (after < before) == ((keyword in LOWER) != written)
    if keyword == "format":
        return (before is None and written) or (after is None and not written)
    if keyword == "type":
        return not written and types(before) <= types(after)
    # A schema for consumers takes what later versions add.
    return keyword == "additionalProperties" and before is False and after is None and written


def types(value):
    return set(value) if isinstance(value, list) else {value}


def misjudged(name, schema):
    """The messages that a schema refuses against what they are known for; of what is written also those it takes so."""
    validator = Draft202012Validator(schema)
    return [f"{name} “{label}”: the schema says {'no' if is_valid else 'yes'}" for label, value, is_valid in messages(name)
            if (is_valid or name in WRITTEN) and validator.is_valid(value) != is_valid]


def unshown(name, old, new):
    """The fields with another pattern or a new bound of which no message shows what it refuses."""
    validator = Draft202012Validator(new)
    refused = {place(name, error) for _, value, is_valid in messages(name) if not is_valid
               for error in validator.iter_errors(value)}
    return [f"{path}: no message shows what its {keyword} refuses"
            for path, keyword in restrictions(old, new, name, name in WRITTEN) if path not in refused]


def place(name, error):
    return ".".join([name, *map(str, error.absolute_path)])


def restrictions(old, new, path, written):
    """Patterns that have changed and, in what is read, patterns and bounds that are new: no rule can compare them."""
    for keyword in sorted(UPPER | LOWER | {"pattern"}):
        before, after = (re.sub(r"\\u00", r"\\x", str(schema.get(keyword, ""))) for schema in (old, new))
        if after and before != after and not (before if keyword != "pattern" else written and not before):
            yield path, keyword
    for name in sorted(old.get("properties", {}).keys() & new.get("properties", {}).keys()):
        yield from restrictions(old["properties"][name], new["properties"][name], f"{path}.{name}", written)


def check_golden(faults):
    count = 0
    for name in READ + WRITTEN:
        today = json.loads((SCHEMAS / "kafka" / f"{name}.schema.json").read_text("utf-8"))
        then = json.loads((GOLDEN / f"{name}.schema.json").read_text("utf-8"))
        faults += changes(then, today, name, name in WRITTEN) + unshown(name, then, today)
        faults += misjudged(name, today)
        for label, value, is_valid in golden_values(name, "added"):
            count += 1
            if misleads(then, name, value, is_valid):
                faults.append(f"golden {name} “{label}”: v1's first schema says {'no' if is_valid else 'yes'}")
    return count


def misleads(then, name, value, is_valid):
    """True when v1's first schema is wrong about a golden message, in more than a field, or a word of an open list, that
    events have won since."""
    rules = [error for error in Draft202012Validator(then).iter_errors(value)
             if not (error.validator == "enum" and place(name, error) in OPEN)
             and not (error.validator == "additionalProperties" and name in WRITTEN)]
    # An input that is accepted now may have been refused by v1's first schema.
    return not rules and not is_valid or bool(rules) and is_valid and name in WRITTEN


def messages(name):
    """Every message of a kind that is known to be right or wrong."""
    yield from golden_values(name, "headers", "added")
    for path in sorted(EXAMPLES.glob(f"{name}.*.json")):
        yield path.name, json.loads(path.read_text("utf-8")), True
    for path in sorted((EXAMPLES / "invalid").glob(f"{name}.*.json")):
        yield path.name, json.loads(path.read_text("utf-8")), False
    if name == "request":
        for row in json.loads((EXAMPLES / "agreement" / "requests.json").read_text("utf-8")):
            yield row["name"], row["request"], row["valid"]


def golden_values(name, *parts):
    """The golden messages of a kind, and whether its schema takes them; a dead letter's headers are in parts."""
    file = {"request": "requests", "receipt": "receipts", "delivery": "events", "dead-letter": "dead-letters"}[name]
    for case in json.loads((GOLDEN / f"{file}.json").read_text("utf-8"))["cases"]:
        if name == "dead-letter":
            yield case["name"], {key: text for part in parts for key, text in case[part].items()}, True
        elif name == "delivery":
            yield case["name"], case["value"], True
        elif "value" in case:
            answer = case.get("decision") or case["reading"]
            value = case["value"]
            structured = isinstance(value, dict) and "specversion" in value
            yield case["name"], value["data"] if structured else value, breaks_no_shape(answer)


def breaks_no_shape(answer):
    """True when the answer blames something other than the value's shape: its signature, its time, the policy."""
    if "deadLetter" in answer:
        return answer["deadLetter"] in ("bad_signature", "invalid_cloudevent")
    if "rule" not in answer:
        return True
    # That a time lies in the future is for a clock to say.
    return answer["rule"] == "shape.requestedAt" or not answer["rule"].startswith("shape.")


def check_rule(faults):
    """The rule allows what it should and finds what it should, in changes to today's schemas and to those of then."""
    today, then = ({name: json.loads((folder / f"{name}.schema.json").read_text("utf-8")) for name in READ + WRITTEN}
                   for folder in (SCHEMAS / "kafka", GOLDEN))
    experiments = [
        (today, "request", True, lambda s: s["properties"].update(colour={"type": "string"})),
        (today, "request", True, lambda s: s["properties"]["channel"]["enum"].append("voice")),
        (today, "request", True, lambda s: s["properties"]["requestId"].update(maxLength=256)),
        (today, "request", True, lambda s: s["properties"]["purpose"].pop("enum")),
        (today, "request", True, lambda s: s["properties"]["subject"].pop("pattern")),
        (today, "request", False, lambda s: s["properties"]["requestId"].update(maxLength=64)),
        (today, "request", False, lambda s: s["properties"]["languageCode"].update(maxLength=64)),
        (today, "request", False, lambda s: s["required"].append("subject")),
        (today, "request", False, lambda s: s["properties"].pop("deadline")),
        (today, "request", False, lambda s: s["properties"]["tenant"].update(type="string")),
        (today, "request", False, lambda s: s["properties"]["tenant"].update(default="acme")),
        (today, "request", False, lambda s: s["properties"]["purpose"]["enum"].remove("sign_in")),
        (today, "request", False, lambda s: s["properties"]["recipient"].update(additionalProperties=False)),
        (today, "request", False, lambda s: s["properties"]["client"]["properties"]["appId"].update(pattern="^[a-z]*$")),
        (today, "request", False, lambda s: s["allOf"].append({"required": ["subject"]})),
        (today, "request", False, lambda s: s["properties"]["subject"].update(pattern="^[a-z]*$")),
        (today, "receipt", True, lambda s: s["properties"]["status"]["enum"].append("read")),
        (today, "receipt", False, lambda s: s["properties"]["status"]["enum"].remove("sent")),
        (today, "delivery", True, lambda s: s["properties"].update(price={"type": "string"})),
        (then, "delivery", True, lambda s: s.pop("additionalProperties")),
        (then, "delivery", True, lambda s: s["properties"]["reason"].pop("enum")),
        (then, "delivery", True, lambda s: s["properties"]["reason"]["enum"].append("tired")),
        (then, "delivery", True, lambda s: s["properties"]["status"]["enum"].append("approved")),
        (today, "delivery", False, lambda s: s["properties"]["status"].pop("enum")),
        (today, "delivery", False, lambda s: s["properties"]["status"]["enum"].append("read")),
        (today, "delivery", False, lambda s: s["properties"]["status"]["enum"].remove("failed")),
        (today, "delivery", False, lambda s: s["properties"]["reason"].update(enum=["locked"])),
        (today, "delivery", False, lambda s: s["properties"].pop("sequence")),
        (today, "delivery", False, lambda s: s["required"].remove("tenant")),
        (today, "delivery", False, lambda s: s["properties"]["sequence"].update(type="string")),
        (today, "delivery", False, lambda s: s["properties"]["sequence"].update(minimum=0)),
        (today, "delivery", False, lambda s: s["properties"]["recipient"]["properties"].pop("masked")),
        (today, "delivery", False, lambda s: s["properties"]["recipient"]["properties"]["masked"].pop("pattern")),
        (today, "delivery", False, lambda s: s["properties"]["tenant"].update(pattern="^.*$")),
        (today, "delivery", False, lambda s: s["allOf"].pop()),
        (then, "dead-letter", True, lambda s: s["properties"]["dead-letter-reason"]["enum"].append("too_old")),
        (today, "dead-letter", False, lambda s: s.update(additionalProperties=False)),
        (today, "dead-letter", False, lambda s: s["properties"].pop("dead-letter-id")),
    ]
    for index, (schemas, name, is_allowed, change) in enumerate(experiments):
        old = schemas[name]
        new = copy.deepcopy(old)
        change(new)
        found = changes(old, new, name, name in WRITTEN) + unshown(name, old, new)
        if schemas is today:
            found += misjudged(name, new)
        if (not found) != is_allowed:
            faults.append(f"the rule itself: experiment {index} on {name}: {found or 'found nothing'}")


if __name__ == "__main__":
    faults = []
    check_rule(faults)
    count = check_golden(faults)
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    if faults:
        sys.exit(1)
    print(f"compatibility: v1 is v1, and {count} golden messages say so")
