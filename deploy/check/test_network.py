#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes each peer, port and exception out of the NetworkPolicy on standard input: the check must find every one missing."""

import copy
import sys

import check_manifests
import yaml


def lists(node, path=()):
    """The paths of all lists below a rule."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        if isinstance(value, list):
            yield (*path, key)
        yield from lists(value, (*path, key))


def without_one(manifests):
    """The manifests without one entry of one list of the policy's rules, and the entry's place."""
    number = next(number for number, each in enumerate(manifests) if each["kind"] == "NetworkPolicy")
    for path in [("egress",), *(("egress", *path) for path in lists(manifests[number]["spec"]["egress"]))]:
        changed = copy.deepcopy(manifests)
        place = changed[number]["spec"]
        for key in path:
            place = place[key]
        for index in range(len(place)):
            entry = place.pop(index)
            yield changed, f"{'.'.join(map(str, path))}.{index}"
            place.insert(index, entry)


overlay = sys.argv[1]
missed = [place for changed, place in without_one(check_manifests.read(sys.stdin))
          if not list(check_manifests.faults_of_network(changed, overlay))]
for place in missed:
    print(f"deploy/kustomize/{overlay}: nobody misses {place} of the NetworkPolicy", file=sys.stderr)
sys.exit(1 if missed else 0)
