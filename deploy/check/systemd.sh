#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the systemd unit: that systemd understands it, that it is exposed by no more than 1.5, that it stops no sooner
# than a worker, and that the secrets it loads are those that `code-courier run` needs.
set -euo pipefail
# shellcheck source=deploy/check/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"

unit=deploy/systemd/code-courier@.service

# The secrets that the configuration names without a folder are those that the unit loads.
loaded="$(sed -n 's|^LoadCredential=\([a-z-]*\):/etc/code-courier/credentials/.*|\1|p' "$unit" | sort)"
named="$(grep -oE '[a-zA-Z]+File: [a-z-]+' deploy/systemd/courier.yaml | sed 's/.*: //' | sort)"
[[ "$loaded" == "$named" ]] || fail "the unit loads other secrets than courier.yaml names" "$loaded" "$named"

if ! command -v systemd-analyze >/dev/null; then
    not_checked "$unit" systemd-analyze
    exit 0
fi

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
# The check does not need the program to be installed.
sed 's|^ExecStart=/usr/local/bin/code-courier |ExecStart=/bin/true |' "$unit" >"$folder/code-courier@.service"
grep -q '^ExecStart=/bin/true ' "$folder/code-courier@.service" || fail "$unit starts another program"
words="$(SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no "$folder/code-courier@1.service" 2>&1)" ||
    fail "systemd does not take the unit" "$words"
[[ "$words" != *"code-courier@"* ]] || fail "systemd does not understand a line of the unit" "$words"

report="$(systemd-analyze security --offline=true --threshold=15 --no-pager "$unit" 2>&1)" ||
    fail "the unit is exposed by more than 1.5" "$report"
say "$(sed -n 's/.*Overall exposure level for [^:]*: \([0-9.]*\).*/systemd unit: exposure level \1/p' <<<"$report")"
