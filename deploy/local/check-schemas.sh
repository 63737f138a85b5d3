#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Holds schemas/ and the queries of deploy/alerts/ against the validators that users run.
#
#   check-schemas.sh TOOLS   TOOLS is a folder with check.cjs (Node's ajv, AsyncAPI's parser, Grafana's LogQL grammar) and
#                            jv (Go's validator), each in one file; those of Python come from PyPI
set -euo pipefail
# shellcheck source=deploy/local/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"

tools="${1:-}"
for tool in check.cjs jv; do
    [[ -r "$tools/$tool" ]] || fail "no $tool in “$tools”" "Use: make check-schemas TOOLS=folder, such as ../shared/tools"
done
tools="$(cd "$tools" && pwd)"
cd "$root"

deploy/local/wheels.sh
say "Checking the schemas with the validators that users run"
.local/python/bin/python deploy/local/check_validators.py "$tools"
