#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the worker on real parts of this machine: a private PostgreSQL that syncs every commit, one node of the Apache
# Kafka in KAFKA_HOME (default: ../shared/kafka), a provider that costs little; beside it two Go workers (--peer), the
# usual Python worker, and the same SQL by a bare loop as a ceiling. JSON lines on stdout, the last one a summary;
# progress on stderr. Once all is built it takes less than 10 minutes on two cores; nothing else should run meanwhile.
#
#   bench.sh [--peer ../shared/peers/go-peers] [--requests 60000] [--runs 3] [--only worker,batched,…]
#       [--rate 200] [--old-rows 10000000] [--batch-size 500] [--max-in-flight 1024]       see bench.sh --help
#   bench.sh --micro                                                          the steps of one request alone
set -euo pipefail
# shellcheck source=deploy/local/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"
cd "$root"

scripts=deploy/local
bench=Tests/Benchmarks/bench
python="$local_directory/bench"

# PostgreSQL's memory lies in huge pages, as its manual advises for servers (19.4.5), where the user may reserve them.
huge_pages=/proc/sys/vm/nr_hugepages
huge_pages_before=
# Checkpoints come when the benchmark makes them: none in the middle of a measurement.
postgres_settings=(shared_buffers=512MB max_wal_size=8GB checkpoint_timeout=1h)

reserve_huge_pages() {
    local wanted=300
    if [[ -w $huge_pages ]] && grep -q '^Hugepagesize: *2048 kB' /proc/meminfo; then
        huge_pages_before="$(<"$huge_pages")"
        if { echo "$((huge_pages_before + wanted))" >"$huge_pages"; } 2>/dev/null &&
            (($(awk '$1 == "HugePages_Free:" { print $2 }' /proc/meminfo) >= wanted)); then
            postgres_settings+=(huge_pages=on)
            return
        fi
        release_huge_pages
    fi
    say "PostgreSQL runs without huge pages and needs a little more time: they can't be reserved here (vm.nr_hugepages)"
}

release_huge_pages() {
    [[ -z "$huge_pages_before" ]] || { echo "$huge_pages_before" >"$huge_pages"; } 2>/dev/null || true
    huge_pages_before=
}

# shellcheck disable=SC2329 # called by the trap
clean_up() {
    trap '' INT TERM HUP
    "$scripts/postgres.sh" remove bench 9>&-
    "$scripts/kafka.sh" stop bench 9>&-
    release_huge_pages
}

make_python() {
    local stamp
    stamp="$(sha256sum "$bench/requirements.txt")"
    [[ -f "$python/stamp" && "$(cat "$python/stamp")" == "$stamp" ]] && return
    say "Making a private Python environment in ${python#"$root/"}"
    rm -rf "$python"
    /usr/bin/python3 -m venv "$python"
    "$python/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary=:all: \
        --requirement "$bench/requirements.txt" >&2 || fail "wheels could not be fetched: see pip's words above"
    printf '%s\n' "$stamp" >"$python/stamp"
}

mkdir -p "$local_directory"
exec 9>"$local_directory/bench.lock"
flock --nonblock 9 || fail "the benchmark of this checkout runs already"

"$scripts/install.sh" tests 9>&-
if [[ "${1:-}" == --micro ]]; then
    parts="$(run deploy/release.sh Benchmarks)"
    exec "$parts" micro
fi

# Reports a missing or wrong Kafka before the build.
export KAFKA_HOME="${KAFKA_HOME:-$root/../shared/kafka}"
"$scripts/kafka.sh" check
KAFKA_HOME="$(cd "$KAFKA_HOME" && pwd -P)"
make_python
"$python/bin/python" "$bench/bench.py" --check "$@"
case " $* " in *" --help "* | *" -h "*) exit ;; esac
run "$scripts/wheels.sh"
say "Building for production (the first time takes many minutes)"
parts="$(run deploy/release.sh Benchmarks)"
program="$(run deploy/release.sh)"

trap clean_up EXIT
"$scripts/postgres.sh" remove bench 9>&-
"$scripts/kafka.sh" stop bench 9>&-
reserve_huge_pages
COURIER_BENCH_POSTGRES_URL="$("$scripts/postgres.sh" start bench "${postgres_settings[@]}" 9>&-)"
COURIER_BENCH_POSTGRES_PROCESS="$("$scripts/postgres.sh" process bench)"
COURIER_BENCH_KAFKA="$("$scripts/kafka.sh" start bench 9>&-)"
COURIER_BENCH_KAFKA_PROCESS="$("$scripts/kafka.sh" process bench 1)"
COURIER_BENCH_PROGRAM="$program"
COURIER_BENCH_PARTS="$parts"
export COURIER_BENCH_POSTGRES_URL COURIER_BENCH_POSTGRES_PROCESS COURIER_BENCH_KAFKA COURIER_BENCH_KAFKA_PROCESS
export COURIER_BENCH_PROGRAM COURIER_BENCH_PARTS
# As the image has it, instead of Debian's librdkafka 2.0.
export LD_LIBRARY_PATH="$local_directory/broker/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
run "$python/bin/python" "$bench/bench.py" "$@"
