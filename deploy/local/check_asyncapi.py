#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks of schemas/asyncapi.yaml what AsyncAPI's own parser does not: its examples, and its names in the code.

Its structure and its references are for that parser, which check-schemas.sh runs. The check is tried on broken copies
first.
"""

import copy
import json
import pathlib
import sys

import yaml
from jsonschema import Draft7Validator

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "schemas" / "asyncapi.yaml"


class Checker:
    def __init__(self, document):
        self.document = document
        self.faults = []
        self.files = set()
        self.examples = 0

    def resolve(self, value):
        """The value, with every reference in it replaced by what it names."""
        if isinstance(value, list):
            return [self.resolve(inner) for inner in value]
        if not isinstance(value, dict):
            return value
        if "$ref" not in value:
            return {name: self.resolve(inner) for name, inner in value.items()}
        file, _, pointer = value["$ref"].partition("#")
        if file:
            path = (FILE.parent / file).resolve()
            self.files.add(path)
            return json.loads(path.read_text("utf-8"))
        found = self.document
        for name in pointer.strip("/").split("/"):
            found = found[name]
        return self.resolve(found)

    def run(self):
        for name, message in self.document["components"]["messages"].items():
            self.message(name, message)
        for path in sorted((ROOT / "schemas" / "kafka" / "examples").glob("*.json")):
            if path not in self.files:
                self.faults.append(f"{path.name} is named by no message")
        self.names()
        return self.faults

    def message(self, name, message):
        """Each example's headers and payload are what the message says of them."""
        validators = {}
        for part in ("headers", "payload"):
            schema = self.resolve(message.get(part, {}))
            schema = schema.get("schema", schema)
            validators[part] = Draft7Validator({**schema, "$schema": "http://json-schema.org/draft-07/schema#"})
        if not message.get("examples"):
            self.faults.append(f"{name}: has no example")
        for example in message.get("examples", []):
            self.examples += 1
            for part, validator in validators.items():
                if part in example:
                    for error in validator.iter_errors(self.resolve(example[part])):
                        self.faults.append(f"{name}, {example['name']}: {part} {error.json_path} breaks {error.validator}")

    def names(self):
        """Topics and the types of events are those of the code."""
        settings = (ROOT / "Sources/CodeCourier/Configuration/KafkaSettings.swift").read_text("utf-8")
        for name, channel in self.document["channels"].items():
            if f'var {name} = "{channel["address"]}"' not in settings:
                self.faults.append(f"channels.{name}: {channel['address']} is not the default of the code")
            if channel["bindings"]["kafka"]["topic"] != channel["address"]:
                self.faults.append(f"channels.{name}: address and topic differ")
        code = "".join(path.read_text("utf-8") for path in sorted((ROOT / "Sources/Verification").rglob("*.swift")))
        for message in self.document["components"]["messages"].values():
            if message["name"].startswith("com.") and f'"{message["name"]}"' not in code:
                self.faults.append(f"{message['name']} is not a type of the code")


def check_itself(document):
    """The slips, by their numbers, that are not found."""
    def request(copied):
        return copied["components"]["messages"]["request"]
    slips = [
        lambda d: d["channels"]["requests"].update(address="x"),
        lambda d: d["channels"]["requests"]["bindings"]["kafka"].update(topic="x"),
        lambda d: request(d).update(name="com.example"),
        lambda d: request(d)["examples"].clear(),
        lambda d: request(d)["examples"].pop(1),
        lambda d: request(d)["examples"][0].update(payload={"requestId": 7}),
        lambda d: request(d)["examples"][-1]["headers"].update(ce_type="other"),
    ]
    for index, slip in enumerate(slips):
        broken = copy.deepcopy(document)
        slip(broken)
        if not Checker(broken).run():
            yield index


if __name__ == "__main__":
    document = yaml.safe_load(FILE.read_text("utf-8"))
    checker = Checker(document)
    faults = [f"asyncapi.yaml: {fault}" for fault in checker.run()]
    faults += [f"check_asyncapi.py: slip {index} is not found" for index in check_itself(document)]
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    if faults:
        sys.exit(1)
    print(f"asyncapi: {checker.examples} examples are as they should be")
