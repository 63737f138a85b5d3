#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that what a Containerfile copies from the repository is there and is let in by the ignore file beside it.

As in Docker, the last line that matches a path or a folder above it decides, and `!` lets in. `**` is not known here.
"""

import fnmatch
import pathlib
import re
import shlex
import sys


def copied(containerfile):
    """The sources of each COPY that does not take from another stage."""
    text = re.sub(r"\\\n", " ", containerfile.read_text())
    for line in re.findall(r"^COPY\s+(.*)$", text, re.M):
        words = shlex.split(line)
        if not any(word.startswith("--from=") for word in words):
            yield from [word for word in words if not word.startswith("--")][:-1]


def matches(pattern, path):
    """True when a pattern names a path or a folder above it; `*` does not match a slash."""
    wanted, parts = pattern.strip("/").split("/"), pathlib.PurePosixPath(path).parts
    return len(wanted) <= len(parts) and all(map(fnmatch.fnmatchcase, parts, wanted))


def is_let_in(path, patterns):
    let_in = True
    for pattern in patterns:
        if matches(pattern.removeprefix("!"), path):
            let_in = pattern.startswith("!")
    return let_in


def faults(containerfile):
    ignore = containerfile.with_name(containerfile.name + ".dockerignore")
    lines = [line.strip() for line in ignore.read_text().splitlines()]
    patterns = [line for line in lines if line and not line.startswith("#")]
    if any("**" in pattern for pattern in patterns):
        yield f"{ignore}: this check does not know **"
    sources = list(copied(containerfile))
    if not sources:
        yield "copies nothing"
    for source in sources:
        if not pathlib.Path(source).exists():
            yield f"copies {source}, which is not there"
        if not is_let_in(source, patterns):
            yield f"copies {source}, which {ignore.name} ignores"


found = list(faults(pathlib.Path(sys.argv[1])))
for fault in found:
    print(f"{sys.argv[1]}: {fault}", file=sys.stderr)
sys.exit(1 if found else 0)
