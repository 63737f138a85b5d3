#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every test on real parts: PostgreSQL, librdkafka's mock cluster with Debian's librdkafka, then the tests that speak
# Kafka once more against a broker process with a newer librdkafka, and at last fleets under faults. What failed is said
# again at the end, above the closing lines.
#
#   test.sh           everything
#   test.sh --check   the part for everyone who changes something, in minutes: style, rules, providers, and one pass over
#                     PostgreSQL and the mock cluster
#
# COURIER_TEST_POSTGRES_URL (a superuser's libpq URL) and COURIER_TEST_KAFKA (host:port,…) name a team's own servers:
# those are used, and nothing is started in their place.
set -euo pipefail
# shellcheck source=deploy/local/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"
# shellcheck source=deploy/local/suites.sh
source "$(dirname "${BASH_SOURCE[0]}")/suites.sh"
cd "$root"

scripts=deploy/local
results="$local_directory/test"

# The suites that need no server.
rules='^((VerificationTests|CodeCourierTests|PhoneNumbersTests)\.|Faults\.CheckerTests/)'

# One pass over PostgreSQL and the mock cluster: the suites that a mistake is most likely to turn red, each within seconds.
one_pass='^((PostgresClientTests|CourierTests|LogsTests)\.|KafkaClientTests\.(RoundTrip|State)Tests/'
one_pass+='|LedgerTests\.(Intake|Outcome|Outbox|Sweep|Receipt|CheckCode|Migrator|Privilege|LedgerContract)Tests/'
one_pass+='|Integration\.Scenarios/Delivery/)'

titles=(broker rules tables end-to-end providers mock-cluster)
case "${1:-}" in
"") ;;
--check) titles=(rules providers one-pass) ;;
*) fail "unknown option: $1" "Use: $0 [--check]" ;;
esac

# What a caller has set is a team's own; what this script starts it also stops.
own_postgres="${COURIER_TEST_POSTGRES_URL:-}"
own_kafka="${COURIER_TEST_KAFKA:-}"
unset COURIER_TEST_KAFKA

# shellcheck disable=SC2329 # called by the trap
clean_up() {
    trap '' INT TERM HUP
    if [[ -z "$own_postgres" ]]; then "$scripts/postgres.sh" remove test 9>&-; fi
    if [[ -z "$own_kafka" ]]; then "$scripts/broker.sh" stop test 9>&-; fi
}

# Five databases are lent at a time. A test's time limit counts from its start: no more start than soon get one.
few=(--experimental-maximum-parallelization-width 8)

# Suites that keep both cores busy run apart from those that watch the clock.
on_mock_cluster() {
    local code=0
    swift_test rules --filter "$rules" || code=$?
    if [[ -z "$stopping" ]]; then swift_test tables "${few[@]}" --filter '^LedgerTests\.' || code=$?; fi
    if [[ -z "$stopping" ]]; then swift_test end-to-end --filter '^Integration\.' --skip "$apache_suites" || code=$?; fi
    if [[ -z "$stopping" ]]; then swift_test providers --filter '^ProvidersTests\.' || code=$?; fi
    if [[ -z "$stopping" ]]; then
        swift_test mock-cluster --skip "$rules" --skip '^(LedgerTests|Integration|ProvidersTests)\.' \
            --skip '^KafkaClientTests\.BrokerProcessTests' --skip "$apache_suites" --skip '^Faults\.' || code=$?
    fi
    return "$code"
}

in_minutes() {
    local code=0
    swift_test rules --filter "$rules" || code=$?
    if [[ -z "$stopping" ]]; then swift_test providers --filter '^ProvidersTests\.' || code=$?; fi
    if [[ -z "$stopping" ]]; then swift_test one-pass --filter "$one_pass" || code=$?; fi
    return "$code"
}

on_broker() {
    if [[ -n "$own_kafka" ]]; then
        export COURIER_TEST_KAFKA="$own_kafka"
    else
        COURIER_TEST_KAFKA="$("$scripts/broker.sh" start test 9>&-)" || return
        export COURIER_TEST_KAFKA
        # What comes after these tests gets Debian's library again.
        local -x LD_LIBRARY_PATH="$local_directory/broker/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
        check_library
    fi
    swift_test broker --filter "$kafka_suites" --skip "$apache_suites"
}

# shellcheck disable=SC2329 # called by `run`
under_faults() { "$scripts/faults.sh" | tee "$results/faults.jsonl"; }

mkdir -p "$results"
exec 9>"$local_directory/test.lock"
flock --nonblock 9 || fail "the tests of this checkout run already"
rm -f "$results"/*

"$scripts/install.sh" tests 9>&-
run "$scripts/lint.sh"
say "Building with tests (the first time takes many minutes)"
run swift build --build-tests --explicit-target-dependency-import-check error

trap clean_up EXIT
if [[ -z "$own_postgres" ]]; then
    "$scripts/postgres.sh" remove test 9>&-
    COURIER_TEST_POSTGRES_URL="$("$scripts/postgres.sh" start test 9>&-)"
    export COURIER_TEST_POSTGRES_URL
fi

# A failure in the first run does not hide what the second would say.
code=0
if [[ "${1:-}" == --check ]]; then
    in_minutes || code=$?
else
    on_mock_cluster || code=$?
    if [[ -z "$stopping" ]]; then on_broker || code=$?; fi
    if [[ -z "$stopping" ]]; then
        say "Testing: faults"
        run under_faults || code=$?
    fi
fi

tell_failures "$code" "$local_directory/faults/tests.log"
if ((code != 0)); then grep -ah '"broken"' "$results/faults.jsonl" 2>/dev/null | cut -c 1-4000 || true; fi
tell_results "${titles[@]}"
[[ "${1:-}" == --check ]] || printf 'faults: %s\n' "$(grep -a '"summary"' "$results/faults.jsonl" 2>/dev/null || printf 'no result')"
exit "$code"
