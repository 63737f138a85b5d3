#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the packages that a build resolved with the versions that Package.swift names: none may float.

A build links what Package.resolved has. It fails where a package came that Package.swift does not name by a full version,
and where one came in another version; and where an image of the Containerfile has a tag that moves.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STAGE = re.compile(r"^FROM (\S+)(?: AS (\S+))?", re.MULTILINE)
WHOLE = re.compile(r"swift:\d+\.\d+\.\d+-|debian:\d+\.\d+-|\S+@sha256:")
PACKAGE = re.compile(r'"(https://[^"]+)", (?:exact: )?"([0-9.]+)"')


def name(url):
    return url.rstrip("/").split("/")[-1].removesuffix(".git").lower()


named = {name(url): version for url, version in PACKAGE.findall((ROOT / "Package.swift").read_text(encoding="utf-8"))}
try:
    pins = json.loads((ROOT / "Package.resolved").read_text(encoding="utf-8"))["pins"]
except OSError as fault:
    sys.exit(f"error: no package was resolved yet: {fault}; run swift package resolve")

faults = []
for pin in pins:
    found = pin["state"].get("version", "no version")
    if named.get(name(pin["location"])) != found:
        faults.append(
            f"{pin['location']} came in {found}, and Package.swift names {named.get(name(pin['location']), 'none')}: "
            "write the version there that was tested, by `exact:`"
        )
for missing in sorted(named.keys() - {name(pin["location"]) for pin in pins}):
    faults.append(f"Package.swift names {missing}, which no build needs: delete the line")
stages = STAGE.findall((ROOT / "deploy/Containerfile").read_text(encoding="utf-8"))
for base, _ in stages:
    if base not in {stage for _, stage in stages} and not WHOLE.match(base):
        faults.append(f"deploy/Containerfile builds on {base}, whose tag moves: name a full version or a digest")
if faults:
    sys.exit("\n".join(f"error: {fault}" for fault in faults))
