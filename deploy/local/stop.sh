#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Stops this checkout's private servers and deletes their data, also those that a cut-off run has left.
set -euo pipefail
# shellcheck source=deploy/local/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"

for state in "$local_directory"/postgres/*/; do
    if [[ -d "$state" ]]; then "$root/deploy/local/postgres.sh" remove "$(basename "$state")"; fi
done
for state in "$local_directory"/brokers/*/; do
    if [[ -d "$state" ]]; then "$root/deploy/local/broker.sh" stop "$(basename "$state")"; fi
done
for state in "$local_directory"/kafka/*/; do
    if [[ -d "$state" ]]; then "$root/deploy/local/kafka.sh" stop "$(basename "$state")"; fi
done
