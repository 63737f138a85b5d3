#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows code-courier at work: installs what is missing, builds, starts a private PostgreSQL and runs
# `code-courier demo`, which brings a broker, simulated providers and a worker. Ctrl-C ends all of it.
#
#   demo.sh           stays up until Ctrl-C, for playing with
#   demo.sh --once    sends its requests, ends, and prints one JSON line as the last line of stdout
set -euo pipefail
# shellcheck source=deploy/local/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"
cd "$root"

postgres="$root/deploy/local/postgres.sh"

# Once more Ctrl-C must not cut the tidying short.
clean_up() {
    trap '' INT TERM HUP
    "$postgres" remove demo 9>&-
}

mkdir -p "$local_directory"
exec 9>"$local_directory/demo.lock"
flock --nonblock 9 || fail "a demo of this checkout runs already" "End it with Ctrl-C in its terminal first."

say "1/3 Checking the Debian packages"
deploy/local/install.sh 9>&-
say "2/3 Building code-courier (the first time takes some minutes)"
run swift build --quiet --product code-courier >&2
run swift build --quiet --product code-courier-sandbox >&2
program="$(swift build --show-bin-path)/code-courier"

say "3/3 Starting a private PostgreSQL"
trap clean_up EXIT
# A demo starts from an empty database: yesterday's requests would be answered as repeats.
"$postgres" remove demo 9>&-
server="$("$postgres" start demo 9>&-)"

# The password stays out of the command line, which every user of the machine can read.
password="${server#*://*:}"
export PGPASSWORD="${password%%@*}"
run "$program" demo --postgres-url "${server/:$PGPASSWORD@/@}" "$@"
