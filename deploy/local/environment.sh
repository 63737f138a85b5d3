#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Starts what the tests need and prints the variables that name it, for a shell in which `swift test` is run by hand:
#
#   eval "$(deploy/local/environment.sh)"           PostgreSQL, and librdkafka's own mock cluster for Kafka
#   eval "$(deploy/local/environment.sh broker)"    PostgreSQL, and a broker process with librdkafka 2.16
#
# COURIER_TEST_POSTGRES_URL or COURIER_TEST_KAFKA set by the caller are kept, and nothing is started in their place.
# `make stop` ends what was started. `deploy/local/install.sh tests` installs the programs that the tests call.
set -euo pipefail
# shellcheck source=deploy/local/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"

postgres="${COURIER_TEST_POSTGRES_URL:-}"
if [[ -z "$postgres" ]]; then postgres="$("$root/deploy/local/postgres.sh" start shell)"; fi
printf 'export COURIER_TEST_POSTGRES_URL=%q\n' "$postgres"

if [[ "${1:-}" == broker ]]; then
    kafka="${COURIER_TEST_KAFKA:-}"
    if [[ -z "$kafka" ]]; then
        kafka="$("$root/deploy/local/broker.sh" start shell)"
        library="$local_directory/broker/lib"
        printf 'export LD_LIBRARY_PATH=%q\n' "$library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    fi
    printf 'export COURIER_TEST_KAFKA=%q\n' "$kafka"
fi
