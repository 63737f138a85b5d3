#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refuses a test report in which no test ran or one was skipped: a missing service fails, it never skips."""

import sys
import xml.etree.ElementTree as ElementTree

path = sys.argv[1]
try:
    suites = list(ElementTree.parse(path).getroot().iter("testsuite"))
except (OSError, ElementTree.ParseError) as fault:
    sys.exit(f"error: there is no readable test report: {fault}")

tests = sum(int(suite.get("tests", "0")) for suite in suites)
skipped = sum(int(suite.get("skipped", "0")) for suite in suites)
skipped = max(skipped, sum(1 for suite in suites for _ in suite.iter("skipped")))
if tests == 0:
    sys.exit("error: no test ran")
if skipped:
    sys.exit(f"error: {skipped} tests were skipped; a missing service has to fail")
