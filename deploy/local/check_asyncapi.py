#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks schemas/asyncapi.yaml: its structure by AsyncAPI 3.0, its references, its examples, and its names in the code.

AsyncAPI's own JSON Schema is larger than this project's schemas together; what is used of the specification is little
and is written down here. The check is tried on broken copies first.
"""

import copy
import json
import pathlib
import sys

import yaml
from jsonschema import Draft7Validator

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "schemas" / "asyncapi.yaml"

# The fields of each object, those with a star required (https://www.asyncapi.com/docs/reference/specification/v3.0.0).
FIELDS = {
    "document": "asyncapi* id info* servers defaultContentType channels operations components",
    "info": "title* version* description termsOfService contact license tags externalDocs",
    "server": "host* protocol* protocolVersion pathname description title summary variables security tags bindings",
    "channel": "address messages title summary description servers parameters tags externalDocs bindings",
    "operation": "action* channel* title summary description security tags externalDocs bindings traits messages reply",
    "message": "headers payload correlationId contentType name title summary description tags externalDocs bindings "
    "examples traits",
    "example": "headers payload name summary",
    "multiformat schema": "schemaFormat* schema*",
    # https://github.com/asyncapi/bindings/tree/master/kafka, version 0.5.0
    "channel binding": "topic partitions replicas topicConfiguration bindingVersion",
    "operation binding": "groupId clientId bindingVersion",
    "message binding": "key schemaIdLocation schemaIdPayloadEncoding schemaLookupStrategy bindingVersion",
}


class Checker:
    def __init__(self, document):
        self.document = document
        self.faults = []
        self.files = set()
        self.examples = 0

    def fault(self, place, text):
        self.faults.append(f"asyncapi.yaml: {place}: {text}")

    def shape(self, kind, value, place):
        """Whether a value is an object with the fields of its kind."""
        if not isinstance(value, dict):
            self.fault(place, f"is no {kind}")
            return False
        words = FIELDS[kind].split()
        known, needed = {word.rstrip("*") for word in words}, {word[:-1] for word in words if word.endswith("*")}
        for name in sorted(value.keys() - known):
            self.fault(place, f"{kind} has no field {name}")
        for name in sorted(needed - value.keys()):
            self.fault(place, f"{kind} needs {name}")
        return needed <= value.keys()

    def resolve(self, value, place):
        """The value, with every reference in it replaced by what it names."""
        if isinstance(value, list):
            return [self.resolve(inner, f"{place}[{index}]") for index, inner in enumerate(value)]
        if not isinstance(value, dict):
            return value
        if "$ref" not in value:
            return {name: self.resolve(inner, f"{place}.{name}") for name, inner in value.items()}
        target = self.target(value["$ref"])
        if target is None:
            self.fault(place, f"{value['$ref']} leads nowhere")
        return target

    def target(self, reference):
        file, _, pointer = reference.partition("#")
        if file:
            path = (FILE.parent / file).resolve()
            if pointer or not path.is_file():
                return None
            self.files.add(path)
            return json.loads(path.read_text("utf-8"))
        found = self.document
        for name in pointer.strip("/").split("/"):
            found = found.get(name) if isinstance(found, dict) else None
        return found if found is None else self.resolve(found, reference)

    def run(self):
        if not self.shape("document", self.document, "document"):
            return self
        if not str(self.document["asyncapi"]).startswith("3."):
            self.fault("asyncapi", "is not a version 3")
        self.shape("info", self.document["info"], "info")
        for name, server in self.document.get("servers", {}).items():
            self.shape("server", server, f"servers.{name}")
        for name, channel in self.document.get("channels", {}).items():
            self.channel(channel, f"channels.{name}")
        for name, operation in self.document.get("operations", {}).items():
            self.operation(operation, f"operations.{name}")
        for name, message in self.document.get("components", {}).get("messages", {}).items():
            self.message(message, f"components.messages.{name}")
        self.resolve(self.document, "document")
        for path in sorted((ROOT / "schemas" / "kafka" / "examples").glob("*.json")):
            if path not in self.files:
                self.fault("examples", f"{path.name} is named by no message")
        return self

    def binding(self, value, kind, place):
        kafka = value.get("bindings", {}).get("kafka", {})
        self.shape(f"{kind} binding", kafka, f"{place}.bindings.kafka")
        return kafka

    def channel(self, channel, place):
        if not self.shape("channel", channel, place):
            return
        if self.binding(channel, "channel", place).get("topic") != channel.get("address"):
            self.fault(place, "address and topic differ")
        for name, message in channel.get("messages", {}).items():
            if not str(message.get("$ref", "")).startswith("#/components/messages/"):
                self.fault(f"{place}.messages.{name}", "is no reference to a message")

    def operation(self, operation, place):
        if not self.shape("operation", operation, place):
            return
        if operation["action"] not in ("send", "receive"):
            self.fault(place, "action is neither send nor receive")
        channel = operation["channel"].get("$ref", "")
        if not channel.startswith("#/channels/"):
            self.fault(place, "channel is no reference to a channel")
        for message in operation.get("messages", []):
            if not message.get("$ref", "").startswith(f"{channel}/messages/"):
                self.fault(place, "a message is not one of its channel")
        self.binding(operation, "operation", place)

    def message(self, message, place):
        if not self.shape("message", message, place):
            return
        self.binding(message, "message", place)
        validators = {}
        for part in ("headers", "payload"):
            schema = message.get(part, {})
            if "schemaFormat" in schema or "schema" in schema:
                self.shape("multiformat schema", schema, f"{place}.{part}")
                schema = schema.get("schema", {})
            schema = self.resolve(schema, f"{place}.{part}") or {}
            validators[part] = Draft7Validator({**schema, "$schema": "http://json-schema.org/draft-07/schema#"})
        if not message.get("examples"):
            self.fault(place, "has no example")
        for index, example in enumerate(message.get("examples", [])):
            where = f"{place}.examples[{index}]"
            self.shape("example", example, where)
            self.examples += 1
            for part, validator in validators.items():
                if part in example:
                    value = self.resolve(example[part], where)
                    for error in validator.iter_errors(value):
                        self.fault(where, f"{part} {error.json_path} breaks {error.validator}")


def check_names(document, faults):
    """Topics, the group and the types of events are those of the code."""
    settings = (ROOT / "Sources/CodeCourier/Configuration/KafkaSettings.swift").read_text("utf-8")
    for name, channel in document["channels"].items():
        if f'var {name} = "{channel["address"]}"' not in settings:
            faults.append(f"asyncapi.yaml: channels.{name}: {channel['address']} is not the default of the code")
    code = "".join(path.read_text("utf-8") for path in sorted((ROOT / "Sources/Verification").rglob("*.swift")))
    for message in document["components"]["messages"].values():
        if message["name"].startswith("com.") and f'"{message["name"]}"' not in code:
            faults.append(f"asyncapi.yaml: {message['name']} is not a type of the code")


def check_itself(document, faults):
    """Each of these slips must be found."""
    def request(copied):
        return copied["components"]["messages"]["request"]
    slips = [
        lambda d: d.pop("info"), lambda d: d.update(asyncapi="2.6.0"), lambda d: d.update(chanels={}),
        lambda d: d["channels"]["requests"].update(adress="x"),
        lambda d: d["channels"]["requests"].update(address="x"),
        lambda d: d["channels"]["requests"]["messages"].update(request={"$ref": "#/components/messages/requests"}),
        lambda d: d["channels"]["requests"]["bindings"]["kafka"].update(partition=1),
        lambda d: d["operations"]["sendDeliveries"].update(action="publish"),
        lambda d: d["operations"]["sendDeliveries"].update(channel={"$ref": "#/channels/requests"}),
        lambda d: request(d)["payload"].update(schema={"$ref": "./kafka/requests.schema.json"}),
        lambda d: request(d)["examples"].pop(1),
        lambda d: request(d)["examples"][0].update(payload={"requestId": 7}),
        lambda d: request(d)["examples"][-1]["headers"].update(ce_type="other"),
    ]
    for index, slip in enumerate(slips):
        broken = copy.deepcopy(document)
        slip(broken)
        if not Checker(broken).run().faults:
            faults.append(f"check_asyncapi.py: slip {index} is not found")


if __name__ == "__main__":
    document = yaml.safe_load(FILE.read_text("utf-8"))
    checker = Checker(document).run()
    faults = checker.faults
    if not faults:
        check_names(document, faults)
        check_itself(document, faults)
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    if faults:
        sys.exit(1)
    print(f"asyncapi: {checker.examples} examples are as they should be")
