#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks what needs no build: the Swift style, the shell scripts' syntax, the schemas, the test vectors, the pages, and
# what installations are made from.
set -euo pipefail
# shellcheck source=deploy/local/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"
cd "$root"

deploy/local/wheels.sh
say "Checking style"
sources=(Package.swift)
for directory in Sources Tests; do if [[ -d "$directory" ]]; then sources+=("$directory"); fi; done
swift format lint --strict --recursive --parallel "${sources[@]}"

scripts=(deploy/local/*.sh deploy/check/*.sh deploy/*.sh .ci/run)
for script in "${scripts[@]}"; do bash -n "$script"; done
# A linter that a developer may have and that `make test` does not ask for.
if command -v shellcheck >/dev/null; then shellcheck -x "${scripts[@]}"; fi

say "Checking schemas and test vectors"
.local/python/bin/python deploy/local/check_schemas.py
.local/python/bin/python deploy/local/check_compatibility.py
.local/python/bin/python deploy/local/check_asyncapi.py
.local/python/bin/python schemas/make_test_vectors.py --check
.local/python/bin/python examples/verifier.py --self-test
# A developer may have neither.
if command -v node >/dev/null; then node examples/verifier.mjs; fi
if command -v go >/dev/null; then go run examples/verifier.go; fi
.local/python/bin/python deploy/local/check_docs.py
say "Not checked here: whether users' validators agree (make check-schemas TOOLS=folder, as continuous integration does)"

say "Checking deployments"
for check in secrets systemd compose kustomize; do "deploy/check/$check.sh"; done

say "Checking alerts"
.local/python/bin/python deploy/alerts/test_alerts.py

say "Checking the figures of docs/scaling.md"
.local/python/bin/python deploy/scaling.py --check
