# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the scripts that run tests, after shared.sh: how suites are run, and how their results are told. The caller
# sets `results`, the folder of logs and reports.

# The suites that take their Kafka from COURIER_TEST_KAFKA.
# shellcheck disable=SC2034 # read by the scripts that source this
kafka_suites='^(KafkaClientTests|Integration(Tests)?)\.'

# Those of them that only a real Apache Kafka can pass.
# shellcheck disable=SC2034 # read by the scripts that source this
apache_suites='\.(ApacheKafkaTests|KafkaFeatures)/'

# Those of these that kill brokers and workers, or time them.
# shellcheck disable=SC2034 # read by the scripts that source this
killing_suites='^Integration\.ApacheKafkaTests/'

# Those of these that need a cluster of three.
# shellcheck disable=SC2034 # read by the scripts that source this
three_node_suites='/ThreeNodes/'

# Runs the built tests that are named, keeps their words, and fails when one failed, was skipped, or none was there.
swift_test() {
    local title="$1" log="$results/$1.log" report="$results/$1.xml" code=0
    shift
    say "Testing: $title"
    run report_to "$log" swift test --skip-build --disable-xctest --xunit-output "$report" "$@" || code=$?
    if ((code == 0)); then "$root/deploy/local/check_report.py" "$report" || code=$?; fi
    return "$code"
}

# shellcheck disable=SC2329 # called by `run`
report_to() {
    local log="$1"
    shift
    "$@" 2>&1 | tee "$log"
}

# The broker needs librdkafka 2.2 or newer, which Debian's is not: the tests must really have got the other one.
check_library() {
    local tests
    tests="$(find "$(swift build --show-bin-path)" -maxdepth 1 -name '*.xctest' | head -n 1)"
    [[ "$(ldd "$tests")" == *"librdkafka.so.1 => $local_directory/broker/lib/"* ]] ||
        fail "the tests do not load librdkafka from .local/broker/lib"
}

# Says again what failed, from the logs of the suites and those that are named.
tell_failures() {
    local code="$1"
    shift
    ((code != 0)) || return 0
    printf '\nWhat failed (whole logs: %s):\n' "${results#"$root/"}"
    grep -ah -A1 '✘' "$results"/*.log "$@" 2>/dev/null |
        grep -a '✘\|↳ [^/]' | cut -c 1-600 | head -n 60 || true
}

# Prints the closing line of each suite.
tell_results() {
    local title closing
    say ""
    for title in "$@"; do
        closing="$(grep -a 'Test run with' "$results/$title.log" 2>/dev/null | tail -n 1 || true)"
        printf '%s: %s\n' "$title" "${closing:-no result}"
    done
}
