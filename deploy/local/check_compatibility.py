#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that schemas/kafka keeps the promise of docs/compatibility.md: v1 stays v1.

schemas/golden/v1 holds the schemas as v1 began, and messages of its time. Today's schemas must still take those
messages, and may differ from those of then only as the rule allows: what workers read must not become stricter, what
they write not looser. The rule itself is checked first, against changes that it must allow and changes it must find.
"""

import copy
import json
import pathlib
import sys

from jsonschema import Draft202012Validator

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "schemas"
GOLDEN = SCHEMAS / "golden" / "v1"

READ = ("request", "receipt")
WRITTEN = ("delivery", "dead-letter")

# The lists of words that v1 may make longer; consumers are told so by docs/compatibility.md.
OPEN = {"delivery.reason", "delivery.channel", "delivery.purpose", "delivery.send.encoding",
        "dead-letter.dead-letter-reason"}

WORDS = {"$schema", "$id", "title", "description"}
LOWER = {"minimum", "minLength", "minItems", "minProperties"}
UPPER = {"maximum", "maxLength", "maxItems", "maxProperties"}


def changes(old, new, path, written):
    """What differs against the rule, as sentences."""
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
        elif keyword == "allOf":
            found += changed_list(before or [], after or [], path, written)
        elif before != after and not may_differ(keyword, before, after, written):
            found.append(f"{path}: {keyword} has changed")
    return found


def changed_properties(before, after, path, written):
    found = [f"{path}.{name} is gone" for name in sorted(before.keys() - after.keys())]
    for name in sorted(before.keys() & after.keys()):
        found += changes(before[name], after[name], f"{path}.{name}", written)
    return found


def changed_words(before, after, path, written):
    """A list of words may grow in what is read, and where it is open in what is written; it never shrinks."""
    gone = set(before or ()) - set(after or ())
    added = set(after or ()) - set(before or ())
    # A rule for one status may name the words that its open list has won.
    is_open = any(path == name or path.startswith(name.split(".")[0] + "[") and path.endswith("." + name.split(".")[-1])
                  for name in OPEN)
    found = [f"{path}: the word {word} is gone" for word in sorted(gone)]
    if before is None or after is None:
        found.append(f"{path}: there is {'no' if after is None else 'now a'} list of words")
    elif written and not is_open:
        found += [f"{path}: the word {word} is new in a closed list" for word in sorted(added)]
    return found


def changed_list(before, after, path, written):
    """Every rule of then is there; more rules make a schema stricter."""
    if len(after) < len(before) or len(after) > len(before) and not written:
        return [f"{path}: allOf has {len(after)} rules instead of {len(before)}"]
    found = []
    for index, (old, new) in enumerate(zip(before, after)):
        if old.get("if") != new.get("if"):
            found.append(f"{path}[{index}]: if has changed")
        old, new = ({key: value for key, value in rule.items() if key not in ("if", "then")} | rule.get("then", {})
                    for rule in (old, new))
        found += changes(old, new, f"{path}[{index}]", written)
    return found


def may_differ(keyword, before, after, written):
    """Whether a bound has moved, or come or gone, in the direction that is allowed."""
    if keyword in LOWER | UPPER:
        if before is None or after is None:
            return (after is None) != written
        return (after < before) == ((keyword in LOWER) != written)
    if keyword in ("pattern", "format"):
        return (before is None and written) or (after is None and not written)
    return False


def check_golden(faults):
    count = 0
    for name in READ + WRITTEN:
        today = json.loads((SCHEMAS / "kafka" / f"{name}.schema.json").read_text("utf-8"))
        then = json.loads((GOLDEN / f"{name}.schema.json").read_text("utf-8"))
        faults += changes(then, today, name, name in WRITTEN)
        for era, schema in (("today's", today), ("v1's first", then)):
            validator = Draft202012Validator(schema)
            for label, value, is_valid in golden_values(name):
                count += 1
                if validator.is_valid(value) != is_valid:
                    faults.append(f"golden {name} “{label}”: {era} schema says {'no' if is_valid else 'yes'}")
    return count


def golden_values(name):
    """The golden messages of a kind, and whether its schema takes them."""
    file = {"request": "requests", "receipt": "receipts", "delivery": "events", "dead-letter": "dead-letters"}[name]
    for case in json.loads((GOLDEN / f"{file}.json").read_text("utf-8"))["cases"]:
        if name == "dead-letter":
            yield case["name"], case["added"], True
        elif name == "delivery":
            yield case["name"], case["value"], True
        elif "value" in case:
            answer = case.get("decision") or case["reading"]
            value = case["value"]
            structured = isinstance(value, dict) and "specversion" in value
            yield case["name"], value["data"] if structured else value, breaks_no_shape(answer)


def breaks_no_shape(answer):
    """Whether the answer blames something else than the value's shape: its signature, its time, the policy."""
    if "deadLetter" in answer:
        return answer["deadLetter"] in ("bad_signature", "invalid_cloudevent")
    if "rule" not in answer:
        return True
    # That a time lies in the future is for a clock to say.
    return answer["rule"] == "shape.requestedAt" or not answer["rule"].startswith("shape.")


def check_rule(faults):
    """The rule allows what it should and finds what it should."""
    schemas = {name: json.loads((GOLDEN / f"{name}.schema.json").read_text("utf-8")) for name in READ + WRITTEN}
    experiments = [
        ("request", True, lambda s: s["properties"].update(colour={"type": "string"})),
        ("request", True, lambda s: s["properties"]["channel"]["enum"].append("voice")),
        ("request", True, lambda s: s["properties"]["requestId"].update(maxLength=256)),
        ("request", False, lambda s: s["properties"]["requestId"].update(maxLength=64)),
        ("request", False, lambda s: s["required"].append("subject")),
        ("request", False, lambda s: s["properties"].pop("deadline")),
        ("request", False, lambda s: s["properties"]["tenant"].update(type="integer")),
        ("request", False, lambda s: s["properties"]["tenant"].update(default="acme")),
        ("request", False, lambda s: s["properties"]["purpose"]["enum"].remove("sign_in")),
        ("request", False, lambda s: s["properties"]["recipient"].update(additionalProperties=False)),
        ("request", False, lambda s: s["allOf"].append({"required": ["subject"]})),
        ("request", False, lambda s: s["properties"]["subject"].update(pattern="^[a-z]*$")),
        ("receipt", False, lambda s: s["properties"]["status"]["enum"].remove("sent")),
        ("receipt", True, lambda s: s["properties"]["status"]["enum"].append("read")),
        ("delivery", True, lambda s: s["properties"].update(price={"type": "string"})),
        ("delivery", True, lambda s: s["properties"]["reason"]["enum"].append("tired")),
        ("delivery", True, lambda s: s["allOf"][6]["then"]["properties"]["reason"]["enum"].append("tired")),
        ("delivery", True, lambda s: s["required"].append("policyVersion")),
        ("delivery", False, lambda s: s["properties"]["status"]["enum"].append("read")),
        ("delivery", False, lambda s: s["properties"]["status"]["enum"].remove("failed")),
        ("delivery", False, lambda s: s["properties"].pop("sequence")),
        ("delivery", False, lambda s: s["required"].remove("tenant")),
        ("delivery", False, lambda s: s["properties"]["sequence"].update(type="string")),
        ("delivery", False, lambda s: s["properties"]["sequence"].update(minimum=0)),
        ("delivery", False, lambda s: s["properties"]["recipient"]["properties"].pop("masked")),
        ("delivery", False, lambda s: s["properties"]["recipient"]["properties"]["masked"].pop("pattern")),
        ("delivery", False, lambda s: s["allOf"].pop()),
        ("dead-letter", True, lambda s: s["properties"]["dead-letter-reason"]["enum"].append("too_old")),
        ("dead-letter", False, lambda s: s["properties"].pop("dead-letter-id")),
    ]
    for index, (name, is_allowed, change) in enumerate(experiments):
        changed = copy.deepcopy(schemas[name])
        change(changed)
        found = changes(schemas[name], changed, name, name in WRITTEN)
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
