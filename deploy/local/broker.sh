#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A private broker for tests: Tansu, which speaks Kafka's protocol, in memory, on a free port of 127.0.0.1.
# It needs clients with librdkafka 2.2 or newer: see wheels.sh. What a test or a benchmark has to know of Tansu 0.6:
# - A fetch is answered when its whole wait is over, whatever has come meanwhile, and looks through every batch that the
#   broker holds for each of its partitions: time and processor are the broker's, and grow with what it has held.
# - A partition's end is raised before the batch below it is stored. With two producers a later batch can so be shown
#   before an earlier one, and a reader at the end skips the earlier one for good; reading again finds both.
#
#   broker.sh start [name]    starts it if it does not run, prints host:port
#   broker.sh url [name]      prints host:port of the running broker
#   broker.sh status [name]   says whether it runs; exit code 1 if it does not
#   broker.sh process [name]  prints the number of its process
#   broker.sh stop [name]     stops it; what it held is gone
#
# The name (default: test) tells several brokers of one checkout apart.
set -euo pipefail
# shellcheck source=deploy/local/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"

command="${1:-help}"
name="${2:-test}"
[[ "$name" =~ ^[a-z0-9-]+$ ]] || fail "a broker's name has only a–z, 0–9 and -: $name"

program="$local_directory/broker/tansu"
state="$local_directory/brokers/$name"

# The process of the running broker, or nothing; a number left from a crash counts only when it is this broker's.
broker_process() {
    local process
    process="$(cat "$state/pid" 2>/dev/null || true)"
    [[ "$process" =~ ^[0-9]+$ ]] && alive "$process" || return 0
    if [[ "$(readlink "/proc/$process/exe" 2>/dev/null)" == "$program" ]]; then printf '%s\n' "$process"; fi
}

start() {
    local port process words=""
    [[ -x "$program" ]] || fail "there is no broker in .local/broker" "Run: deploy/local/wheels.sh"
    if [[ -n "$(broker_process)" ]]; then
        cat "$state/address"
        return
    fi
    for _ in {1..5}; do
        mkdir -p "$state"
        port="$(free_port)"
        # In a session of its own, so that Ctrl-C in the terminal is not the broker's to answer.
        setsid "$program" --silent --storage-engine memory://tansu/ \
            --listener-url "tcp://127.0.0.1:$port" --advertised-listener-url "tcp://127.0.0.1:$port" \
            9>&- >"$state/broker.log" 2>&1 </dev/null &
        process=$!
        printf '%s\n' "$process" >"$state/pid"
        for _ in {1..100}; do
            if ! alive "$process"; then break; fi
            if accepts "$port"; then
                printf '127.0.0.1:%s\n' "$port" | tee "$state/address"
                return
            fi
            sleep 0.1
        done
        words="$(tail -n 5 "$state/broker.log")"
        stop
    done
    fail "the broker does not start" "$words"
}

stop() {
    local process
    process="$(broker_process)"
    if [[ -n "$process" ]]; then
        end_process "$process" TERM 50 KILL || fail "the broker does not stop: process $process"
    fi
    rm -rf "$state"
}

case "$command" in
start | stop)
    take_turns "broker-$name"
    "$command"
    ;;
status)
    [[ -n "$(broker_process)" ]] || { printf 'the broker "%s" does not run\n' "$name" && exit 1; }
    printf 'the broker "%s" runs as process %s on %s\n' "$name" "$(broker_process)" "$(cat "$state/address")"
    ;;
process) broker_process ;;
url)
    [[ -n "$(broker_process)" ]] || fail "the broker \"$name\" does not run" "Run: $0 start $name"
    cat "$state/address"
    ;;
*)
    usage >&2
    exit 2
    ;;
esac
