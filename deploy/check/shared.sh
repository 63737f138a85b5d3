# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the checks beside it: a check that lacks its tool says so.
# shellcheck source=deploy/local/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/../local/shared.sh"
cd "$root" || exit

# Says what is not checked because there is no such program.
not_checked() { say "NOT CHECKED: $1: there is no $2"; }
