#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the pages name: links lead somewhere, settings, fields and tests exist, and YAML is right.

The pages are README.md and its neighbours, and docs/. Where a link's text is a name in code, as `Type.function`, the file
must declare it: pages name functions, and those are renamed and moved.

A YAML block is a policy if it has `version`, and a configuration otherwise; both are held against their schemas, as are
the schemas' own defaults. The keys that the schemas have are those of the readers: SettingsSchemaTests.
"""

import json
import pathlib
import re
import sys

import yaml
from jsonschema import Draft202012Validator

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = {path.name.split(".")[0]: json.loads(path.read_text("utf-8"))
           for path in [*ROOT.glob("schemas/*.schema.json"), *ROOT.glob("schemas/kafka/*.schema.json")]}

# A log line is no setting, though it may be called like one. Its severity is what it is found by.
EVENTS = {event["event"]: event["severity"]
          for event in json.loads((ROOT / "schemas/log-events.json").read_text("utf-8"))["events"]}


class Loader(yaml.SafeLoader):
    """Reads scalars as YAML 1.2 does: NO is Norway, and a date is a text."""


Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":timestamp", ":bool"))]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf"))


def paths(schema, root, prefix=()):
    """Every dotted path of keys that a schema has; names of an operator's choosing leave no trace."""
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].split("/")[-1]]
    for name, inner in schema.get("properties", {}).items():
        yield ".".join((*prefix, name))
        yield from paths(inner, root, (*prefix, name))
    for inner in (schema.get("items"), schema.get("additionalProperties"), *schema.get("anyOf", [])):
        yield from paths(inner, root, prefix)


def known_names():
    """The settings and fields, by the paths under which people speak of them."""
    names = {path for schema in SCHEMAS.values() for path in paths(schema, schema)}
    names |= {path.removeprefix("tenants.") for path in names}
    # A page names a setting of limits, routes or providers by what is unique in it.
    return names


def check_links(page, text, faults):
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        path = (page.parent / file) if file else page
        if not path.exists():
            faults.append(f"{page.name}: {target} leads nowhere")
        elif anchor and path.suffix == ".md" and anchor not in anchors(path.read_text("utf-8")):
            faults.append(f"{page.name}: {target} has no such heading")


def check_functions(page, text, faults):
    for words, target in re.findall(r"\[`([\w.]+)`\]\(([^)\s#]+\.(?:swift|sql))\)", text):
        path = page.parent / target
        if words.endswith((".swift", ".sql")) or not path.exists():
            continue
        code = path.read_text("utf-8")
        *owners, name = words.split(".")
        keyword = r"\b(?:actor|class|enum|func|let|protocol|struct|var) |FUNCTION courier\."
        declared = rf"(?:{keyword}){name}\b" if name != "init" else r"^ *(?:package )?init\("
        if not re.search(declared, code, re.M) or not all(re.search(rf"\b{owner}\b", code) for owner in owners):
            faults.append(f"{page.name}: {target} does not declare {words}")


def check_tables(page, text, faults):
    """The architecture's page has every table of the schema."""
    tables = "".join(path.read_text("utf-8") for path in sorted(ROOT.glob("schemas/postgres/*.sql")))
    for name in re.findall(r"^CREATE (?:UNLOGGED )?TABLE IF NOT EXISTS courier\.(\w+)", tables, re.M):
        if f"`{name}`" not in text:
            faults.append(f"{page.name}: lacks the table {name}")


def anchors(text):
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", text, re.M)}


def check_names(page, text, names, code, suites, faults):
    roots = {name.split(".")[0] for name in names}
    for token in re.findall(r"`([^`\n]+)`", text):
        word = re.split(r"[:\s(]", token)[0]
        if re.fullmatch(r"\w+Tests", word) and word not in suites:
            faults.append(f"{page.name}: there is no test suite {word}")
        if not re.fullmatch(r"[a-z]\w*(\.\w+)+", word) or word.split(".")[0] not in roots or word in EVENTS:
            continue
        if word not in names and f'"{word}"' not in code and not (page.parent / word).exists():
            faults.append(f"{page.name}: {word} is neither a setting nor a field nor a log event")


def check_events(page, text, names, faults):
    """The operators' page names no log event that does not exist, or that is not written at the level it begins with.

    There a word with a point in it is an event unless it is a setting, a field, a table or a file.
    """
    tables = "".join(path.read_text("utf-8") for path in sorted(ROOT.glob("schemas/postgres/*.sql")))
    for word in re.findall(r"`([a-z_]+\.[a-z_]+)(?![\w.])", text):
        if EVENTS.get(word) in ("trace", "debug"):
            faults.append(f"{page.name}: {word} is not written at log.level info")
        elif not (word in EVENTS or word in names or re.search(rf"\b{re.escape(word)}\b", tables)
                  or word.endswith((".yaml", ".json", ".md", ".py"))):
            faults.append(f"{page.name}: there is no log event {word}")


def check_yaml(page, text, faults):
    count = 0
    for block in re.findall(r"^```yaml\n(.*?)^```", text, re.M | re.S):
        value = yaml.load(block, Loader)
        if not isinstance(value, dict) or not value.keys() <= SCHEMAS["policy"]["properties"].keys() | SCHEMAS[
                "courier"]["properties"].keys():
            continue
        count += 1
        schema = SCHEMAS["policy" if "version" in value else "courier"]
        for error in Draft202012Validator(schema).iter_errors(value):
            faults.append(f"{page.name}: YAML {error.json_path}: {error.message[:160]}")
    return count


def check_schemas(faults):
    for name in ("policy", "courier"):
        Draft202012Validator.check_schema(SCHEMAS[name])
    typo = {"version": "1", "tenants": {"default": {"appName": "A", "regions": {"allowlistOnly": {"allowedRegions": []}},
                                                    "routes": {"default": ["main"]}, "limit": {}}}}
    for value in (typo, {"version": "1", "tenants": {}}):
        if Draft202012Validator(SCHEMAS["policy"]).is_valid(value):
            faults.append("policy.schema.json: takes a policy that is none")
    if Draft202012Validator(SCHEMAS["courier"]).is_valid({"providers": [{"name": "a", "kind": "twilio", "apiKey": "k"}]}):
        faults.append("courier.schema.json: takes a provider with another kind's key")


if __name__ == "__main__":
    faults = []
    check_schemas(faults)
    names = known_names()
    code = "".join(path.read_text("utf-8") for path in sorted(ROOT.glob("Sources/**/*.swift")))
    tests = [*ROOT.glob("Tests/**/*.swift")]
    suites = {name for path in tests for name in re.findall(r"(?:struct|enum|class) (\w+Tests)\b", path.read_text("utf-8"))}
    suites |= {path.stem for path in tests}
    pages = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
    blocks = 0
    for page in pages:
        text = page.read_text("utf-8")
        check_links(page, text, faults)
        check_functions(page, text, faults)
        check_names(page, text, names, code, suites, faults)
        if page.name == "operators.md":
            check_events(page, text, names, faults)
        if page.name == "architecture.md":
            check_tables(page, text, faults)
        blocks += check_yaml(page, text, faults)
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    if faults:
        sys.exit(1)
    print(f"pages: {len(pages)} pages and {blocks} files in them are as they should be")
