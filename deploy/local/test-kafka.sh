#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the tests that speak Kafka against a real Apache Kafka from KAFKA_HOME: one node with Debian's librdkafka 2.0.2,
# and three nodes (factor 3, `min.insync.replicas` 2) with librdkafka 2.16. FULL=1 runs both libraries on both, and the
# fleets under faults of `make faults` on three nodes.
#
# It fails where KAFKA_HOME is missing. COURIER_TEST_POSTGRES_URL names a PostgreSQL of one's own, as in test.sh.
set -euo pipefail
# shellcheck source=deploy/local/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"
# shellcheck source=deploy/local/suites.sh
source "$(dirname "${BASH_SOURCE[0]}")/suites.sh"
cd "$root"

scripts=deploy/local
results="$local_directory/test-kafka"
own_postgres="${COURIER_TEST_POSTGRES_URL:-}"
unset COURIER_TEST_KAFKA

# What is run: nodes and library.
runs=("1 debian" "3 wheel")
full=""
case "${FULL:-}" in
"" | 0 | no | false) ;;
*)
    runs+=("1 wheel" "3 debian")
    full=yes
    ;;
esac

# shellcheck disable=SC2329 # called by the trap
clean_up() {
    trap '' INT TERM HUP
    if [[ -z "$own_postgres" ]]; then "$scripts/postgres.sh" remove test-kafka 9>&-; fi
    "$scripts/kafka.sh" stop test 9>&-
}

# Whether a run has fleets under faults, too.
runs_campaign() { [[ -n "$full" && "$*" == "3 wheel" ]]; }

title_of() { printf 'kafka-%s-%s\n' "$@"; }

# Leads the tests to a new cluster.
start_kafka() {
    "$scripts/kafka.sh" stop test 9>&-
    COURIER_TEST_KAFKA="$("$scripts/kafka.sh" start test "$1" 9>&-)" || return
    export COURIER_TEST_KAFKA COURIER_TEST_KAFKA_CLUSTER=test COURIER_TEST_KAFKA_REPLICAS="$1"
}

# One run of the suites.
on_kafka() {
    local nodes="$1" library="$2" code=0
    start_kafka "$nodes" || return
    if [[ "$library" == wheel ]]; then
        local -x LD_LIBRARY_PATH="$local_directory/broker/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
        check_library
    fi
    # The tests of TLS put a front before a broker, one alone.
    local -a skipped=(--skip "$killing_suites") skipped_faults=()
    if ((nodes > 1)); then skipped+=(--skip '/KafkaSecurity/'); else skipped_faults+=(--skip "$three_node_suites"); fi
    swift_test "$(title_of "$nodes" "$library")" --filter "$kafka_suites" "${skipped[@]}" || code=$?
    # By themselves: what is killed is missed by others. On a new cluster: a broker that starts opens every topic.
    if [[ -z "$stopping" ]]; then
        start_kafka "$nodes" || return
        swift_test "$(title_of "$nodes" "$library")-faults" --filter "$killing_suites" "${skipped_faults[@]}" || code=$?
    fi
    # Those of brokers inject errors, which the mock cluster alone can.
    if [[ -z "$stopping" ]] && runs_campaign "$@"; then
        swift_test "$(title_of "$nodes" "$library")-campaign" --filter '^Faults\.' --skip '/BrokerFaults/' || code=$?
    fi
    return "$code"
}

"$scripts/install.sh" tests
"$scripts/kafka.sh" check
# The tests call the script from folders of their own.
KAFKA_HOME="$(cd "$KAFKA_HOME" && pwd -P)"
export KAFKA_HOME
mkdir -p "$results"
exec 9>"$local_directory/test-kafka.lock"
flock --nonblock 9 || fail "the Kafka tests of this checkout run already"
rm -f "$results"/*

"$scripts/wheels.sh" 9>&-
say "Building with tests (the first time takes many minutes)"
run swift build --build-tests --explicit-target-dependency-import-check error

trap clean_up EXIT
if [[ -z "$own_postgres" ]]; then
    "$scripts/postgres.sh" remove test-kafka 9>&-
    COURIER_TEST_POSTGRES_URL="$("$scripts/postgres.sh" start test-kafka 9>&-)"
    export COURIER_TEST_POSTGRES_URL
fi

code=0
titles=()
for combination in "${runs[@]}"; do
    read -r nodes library <<<"$combination"
    titles+=("$(title_of "$nodes" "$library")" "$(title_of "$nodes" "$library")-faults")
    if runs_campaign "$nodes" "$library"; then titles+=("$(title_of "$nodes" "$library")-campaign"); fi
    if [[ -z "$stopping" ]]; then on_kafka "$nodes" "$library" || code=$?; fi
done

tell_failures "$code"
tell_results "${titles[@]}"
exit "$code"
