#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the tests once, starts what they need once, and runs their parts in two lanes: see parts.py.
#
#   test.sh               everything. With KAFKA_HOME, tests of Kafka run on an Apache Kafka of three nodes, else on a
#                         broker process
#   test.sh --all         the same with KAFKA_HOME alone, and two more builds: AddressSanitizer over what speaks to C
#                         libraries, and the limits of allocations on an optimized build
#   test.sh --check       the loop while you change something: style, rules, providers, one pass over the servers
#   test.sh --kafka       the tests on an Apache Kafka of three nodes, from KAFKA_HOME
#   test.sh --kafka-full  those on one node, too, and with Debian's librdkafka on both; and fleets under faults
#   test.sh --faults      fleets under faults, one JSON line a scenario on stdout, and a last one that sums them up
#   test.sh --faults-full the long run: every fault as often as docs/guarantees.md says, on an optimized build
#   test.sh PART…         those parts: `deploy/local/parts.py --list` has their names
#
# COURIER_TEST_POSTGRES_URL (a superuser's libpq URL) and COURIER_TEST_KAFKA (host:port,…) name a team's own servers:
# those are used, and nothing is started in their place. COURIER_TEST_SEED repeats a run; COURIER_FAULTS_ONLY (a regular
# expression) chooses suites of faults, such as `Kill|Pause`.
set -euo pipefail
# shellcheck source=deploy/local/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"
cd "$root"

scripts=deploy/local
results="$local_directory/test"

# All ends by then: the build, and every part.
until=$((EPOCHSECONDS + 4500))

without_kafka=(style rules tables providers pipeline)
on_kafka=(end-to-end clients old-library restarts)
on_broker=(end-to-end-broker clients-broker)
own_postgres="${COURIER_TEST_POSTGRES_URL:-}"
own_kafka="${COURIER_TEST_KAFKA:-}"
case "${1:-}" in
"")
    if [[ -n "${KAFKA_HOME:-}" && -z "$own_kafka" ]]; then
        parts=("${without_kafka[@]}" "${on_kafka[@]}" faults)
    else
        parts=("${without_kafka[@]}" "${on_broker[@]}" faults)
    fi
    ;;
--all) parts=("${without_kafka[@]}" "${on_kafka[@]}" faults addresses allocations) ;;
--check) parts=(style rules providers one-pass) ;;
--kafka) parts=("${on_kafka[@]}") ;;
--kafka-full)
    parts=("${on_kafka[@]}" one-node one-node-debian one-node-restarts-debian three-nodes-debian)
    parts+=(three-nodes-restarts-debian campaign)
    # Six runs of everything take their time.
    until=$((EPOCHSECONDS + 5100))
    ;;
--faults) parts=(faults) ;;
--faults-full)
    parts=(long-faults) until=$((EPOCHSECONDS + 5100))
    # Tests see the insides of targets, which an optimized build hides unless it is told not to.
    export COURIER_TEST_BUILD="--configuration release -Xswiftc -cross-module-optimization -Xswiftc -enable-testing"
    ;;
-h | --help)
    usage
    exit
    ;;
-*) fail "unknown option: $1" "Use: $0 --help" ;;
*) parts=("$@") ;;
esac

needs() { [[ " ${parts[*]} " =~ $1 ]]; }

# shellcheck disable=SC2329 # called by the trap
clean_up() {
    trap '' INT TERM HUP
    if [[ -z "$own_postgres" ]]; then "$scripts/postgres.sh" remove test 9>&-; fi
    if [[ -z "$own_kafka" ]]; then
        "$scripts/broker.sh" stop test 9>&-
        "$scripts/kafka.sh" stop test 9>&-
    fi
}

mkdir -p "$results"
exec 9>"$local_directory/test.lock"
flock --nonblock 9 || fail "the tests of this checkout run already"
rm -rf "${results:?}"/*

# Reports a missing Kafka before the build.
if needs ' (clients|end-to-end|old-library|restarts|one-node[a-z-]*|three-nodes[a-z-]*|campaign) '; then
    "$scripts/kafka.sh" check
    # The tests call the script from folders of their own.
    KAFKA_HOME="$(cd "$KAFKA_HOME" && pwd -P)"
    export KAFKA_HOME
fi
"$scripts/install.sh" tests 9>&-
run "$scripts/wheels.sh"
say "Building with tests (the first time takes some minutes)"
# Workers that die or stand still at a named step come from a debug build, whatever the others are.
if [[ -n "${COURIER_TEST_BUILD:-}" ]]; then run timeout --foreground 2700 swift build --product code-courier >&2; fi
# shellcheck disable=SC2086 # one word an option
run timeout --foreground 2700 swift build --build-tests --explicit-target-dependency-import-check error \
    ${COURIER_TEST_BUILD:-} >&2
"$scripts/check_versions.py"

trap clean_up EXIT
if [[ -z "$own_postgres" ]]; then
    "$scripts/postgres.sh" remove test 9>&-
    # Hundreds of databases are made and dropped: in memory where there is room for them.
    if [[ -w /dev/shm ]] && (($(df --output=avail -k /dev/shm | tail -n 1) > 2000000)); then
        export COURIER_POSTGRES_PLACE=/dev/shm
    fi
    # The tests crash servers, never the machine, so nothing needs to be synced to the disk.
    COURIER_TEST_POSTGRES_URL="$("$scripts/postgres.sh" start test fsync=off 9>&-)"
    export COURIER_TEST_POSTGRES_URL
fi
if [[ -z "$own_kafka" ]] && needs ' (clients|end-to-end|old-library) '; then
    "$scripts/kafka.sh" stop test 9>&-
    COURIER_TEST_KAFKA="$("$scripts/kafka.sh" start test 3 9>&-)"
    export COURIER_TEST_KAFKA COURIER_TEST_KAFKA_CLUSTER=test COURIER_TEST_KAFKA_REPLICAS=3
elif [[ -z "$own_kafka" ]] && needs '-broker '; then
    COURIER_TEST_KAFKA="$("$scripts/broker.sh" start test 9>&-)"
    export COURIER_TEST_KAFKA
fi
export COURIER_FAULTS_REPORT="$results/faults-report.jsonl"

code=0
# Of faults, stdout is the report.
if needs '^ [a-z-]*faults $'; then exec 3>&2; else exec 3>&1; fi
run "$scripts/parts.py" --results "$results" --until "$until" "${parts[@]}" >&3 || code=$?
if [[ -f "$COURIER_FAULTS_REPORT" ]]; then
    "$scripts/sum_faults.py" "$COURIER_FAULTS_REPORT" >"$results/faults.jsonl" || code=$?
    if needs '^ [a-z-]*faults $'; then cat "$results/faults.jsonl"; else tail -n 1 "$results/faults.jsonl" >&2; fi
fi
exit "$code"
