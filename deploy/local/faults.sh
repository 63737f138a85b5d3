#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Puts fleets of real workers under faults and judges what really happened. One JSON line a scenario on stdout, and a
# last one that sums them up; everything else goes to stderr. Fails when a promise was broken.
#
#   faults.sh           a few minutes
#   faults.sh --full    the long run: every fault as often as docs/guarantees.md says, on an optimized build
#
# COURIER_TEST_SEED repeats a run; COURIER_FAULTS_ONLY (a regular expression) chooses suites, such as `Kill|Pause`.
# COURIER_TEST_POSTGRES_URL (a superuser's libpq URL) names a server of one's own, which is used instead.
set -euo pipefail
# shellcheck source=deploy/local/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"
cd "$root"

scripts=deploy/local
results="$local_directory/faults"
log="$results/tests.log"
own_postgres="${COURIER_TEST_POSTGRES_URL:-}"
# Faults are injected into librdkafka's mock cluster, whatever Kafka the other tests use.
unset COURIER_TEST_KAFKA

case "${1:-}" in
"")
    unset COURIER_FAULTS_FULL
    build=()
    ;;
--full)
    export COURIER_FAULTS_FULL=1
    # Tests see the insides of targets, which an optimized build hides unless it is told not to.
    build=(--configuration release -Xswiftc -cross-module-optimization -Xswiftc -enable-testing)
    ;;
*) fail "unknown option: $1" "Use: $0 [--full]" ;;
esac

# shellcheck disable=SC2329 # called by the trap
clean_up() {
    trap '' INT TERM HUP
    if [[ -z "$own_postgres" ]]; then "$scripts/postgres.sh" remove faults 9>&-; fi
}

# shellcheck disable=SC2329 # called by `run`
to_log() { "$@" 2>&1 | tee -a "$log" >&2; }

mkdir -p "$results"
exec 9>"$local_directory/faults.lock"
flock --nonblock 9 || fail "the fault tests of this checkout run already"
rm -f "$results"/*

"$scripts/install.sh" tests 9>&-
say "Building with tests (the first time takes many minutes)"
# Workers that die or stand still at a named step come from a debug build, whatever the others are.
if [[ -n "${build[*]}" ]]; then run swift build --product code-courier >&2; fi
run swift build --build-tests "${build[@]}" >&2

trap clean_up EXIT
if [[ -z "$own_postgres" ]]; then
    "$scripts/postgres.sh" remove faults 9>&-
    COURIER_TEST_POSTGRES_URL="$("$scripts/postgres.sh" start faults 9>&-)"
    export COURIER_TEST_POSTGRES_URL
fi
export COURIER_FAULTS_REPORT="$results/report.jsonl"

# One run of the suites; what it finds is added to what an earlier one has found.
try() {
    run to_log swift test "${build[@]}" --skip-build --disable-xctest --xunit-output "$results/report.xml" --filter "$suites"
}

code=0
suites='^Faults\.'
if [[ -n "${COURIER_FAULTS_ONLY:-}" ]]; then suites="^Faults\\.[A-Za-z]+/($COURIER_FAULTS_ONLY)/"; fi
try || code=$?
# The mock cluster of librdkafka 2.0 ends its whole process when a member that lost its connection joins again at the wrong
# moment. That says nothing of the workers, so the run begins anew, once, unless a test had failed by then.
if ((code != 0)) && [[ -z "$stopping" ]] &&
    grep -aq 'rdkafka_mock.*Assertion' "$log" && ! grep -aq '✘' "$log"; then
    say "librdkafka's mock cluster has ended the run by an assertion of its own: once more"
    code=0
    try || code=$?
fi
if ((code == 0)); then "$scripts/check_report.py" "$results/report.xml" || code=$?; fi
"$scripts/sum_faults.py" "$COURIER_FAULTS_REPORT" || code=$?
exit "$code"
