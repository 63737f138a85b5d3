#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A private PostgreSQL 15 under .local/, apart from any that the machine runs: it listens on a free port of 127.0.0.1,
# asks for a random password, and has one empty database, `courier`.
#
#   postgres.sh start [name]    makes the cluster if there is none, starts it if it does not run, prints its URL;
#                               settings of the server (name=value) may follow the name, for a new cluster
#   postgres.sh url [name]      prints the URL of a running cluster
#   postgres.sh status [name]   says whether it runs; exit code 1 if it does not
#   postgres.sh process [name]  prints the number of the server's process
#   postgres.sh stop [name]     stops it and keeps its data
#   postgres.sh remove [name]   stops it and deletes its data
#
# COURIER_POSTGRES_PLACE names a folder for the data of a new cluster, in place of .local: tests have it in memory, where a
# database is made ten times as fast.
# The name (default: test) tells several clusters of one checkout apart.
set -euo pipefail
# shellcheck source=deploy/local/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"

command="${1:-help}"
name="${2:-test}"
settings=("${@:3}")
[[ "$name" =~ ^[a-z0-9-]+$ ]] || fail "a cluster's name has only a–z, 0–9 and -: $name"

# The checkout's state of the cluster: its `directory` and its `url`.
state="$local_directory/postgres/$name"
programs=/usr/lib/postgresql/15/bin

# PostgreSQL refuses to run as root: then the user of Debian's packages owns the cluster and runs it.
as_owner() {
    if ((EUID == 0)); then
        (cd / && exec runuser -u postgres -- "$@")
    else
        "$@"
    fi
}

# For files that hold the password. The folders around keep the caller's mask: user postgres must get through them.
private() { (umask 077 && cat >"$1"); }

directory() { cat "$state/directory" 2>/dev/null || true; }

# True when the cluster's owner can create files there: not below a directory that only root may enter.
owner_can_use() { as_owner test -w "$1" -a -x "$1" && as_owner "$programs/postgres" --version >/dev/null; }

# The process of the running server, or nothing.
server_process() { running_process "$(directory)/data/postmaster.pid" "$(directory)/data"; }

choose_directory() {
    local chosen="$state/cluster"
    if [[ -n "${COURIER_POSTGRES_PLACE:-}" ]]; then chosen="$(mktemp -d "$COURIER_POSTGRES_PLACE/code-courier-postgres.XXXXXX")"; fi
    mkdir -p "$chosen"
    chmod 700 "$chosen"
    if ((EUID == 0)); then
        chown postgres: "$chosen" 2>/dev/null || true
        if ! owner_can_use "$chosen"; then
            rmdir "$chosen"
            chosen="$(mktemp -d /var/tmp/code-courier-postgres.XXXXXX)"
            chown postgres: "$chosen"
            owner_can_use "$chosen" || fail "user postgres can write neither below $state nor in /var/tmp"
        fi
    fi
    printf '%s\n' "$chosen" >"$state/directory"
}

make_cluster() {
    local place
    place="$(directory)"
    say "Making a private PostgreSQL in ${place#"$root/"}"
    od -An -N 16 -tx1 /dev/urandom | tr -d ' ' | as_owner tee "$place/password" >/dev/null
    as_owner "$programs/initdb" --pgdata="$place/data" --username=courier --pwfile="$place/password" \
        --auth=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8 --no-sync >"$state/initdb.log" 2>&1 ||
        fail "initdb failed" "$(tail -n 5 "$state/initdb.log")"
    as_owner tee -a "$place/data/postgresql.conf" >/dev/null <<-SETTINGS
		listen_addresses = '127.0.0.1'
		unix_socket_directories = ''
		max_connections = 200
		fsync = on
		timezone = 'UTC'
		log_timezone = 'UTC'
	SETTINGS
    for setting in "${settings[@]}"; do printf '%s\n' "$setting"; done |
        as_owner tee -a "$place/data/postgresql.conf" >/dev/null
}

# Another program may take the port between the look and the start: then another port is tried.
start_server() {
    local port log
    log="$(directory)/server.log"
    rm -f "$(directory)/data/postmaster.pid"
    for _ in {1..5}; do
        port="$(free_port)"
        if as_owner "$programs/pg_ctl" start --silent --wait --timeout=60 --pgdata="$(directory)/data" --log="$log" \
            --options="-p $port" 9>&- >/dev/null 2>&1 </dev/null; then
            printf 'postgresql://courier:%s@127.0.0.1:%s\n' "$(cat "$(directory)/password")" "$port" |
                private "$state/server"
            return
        fi
        as_owner tail -n 20 "$log" 2>/dev/null | grep -q 'Address already in use' || break
    done
    fail "PostgreSQL does not start" "$(as_owner tail -n 5 "$log" 2>&1)"
}

make_database() {
    local server found
    server="$(cat "$state/server")"
    found="$("$programs/psql" -XAtqc "SELECT 1 FROM pg_database WHERE datname = 'courier'" "$server/postgres")"
    if [[ -z "$found" ]]; then "$programs/psql" -Xqc 'CREATE DATABASE courier' "$server/postgres"; fi
    printf '%s/courier\n' "$server" | private "$state/url"
}

start() {
    [[ -x "$programs/initdb" ]] || fail "PostgreSQL 15 is not installed" "Run: deploy/local/install.sh"
    mkdir -p "$state" && [[ -w "$state" ]] ||
        fail "$state belongs to another user" "Run: sudo make clean (or run this as the user who made it)"
    if [[ -z "$(server_process)" ]]; then
        # A cluster that was never finished, or whose directory is gone, is created again.
        if [[ ! -f "$state/made" || ! -d "$(directory)/data" ]]; then
            remove
            mkdir -p "$state"
            choose_directory
            make_cluster
            touch "$state/made"
        fi
        rm -f "$state/url"
        start_server
    fi
    [[ -f "$state/url" ]] || make_database
    cat "$state/url"
}

# INT ends the open sessions; a server that still runs after a minute gets QUIT.
stop() {
    local process
    process="$(server_process)"
    [[ -n "$process" ]] || return 0
    end_process "$process" INT 600 QUIT || fail "PostgreSQL does not stop: process $process"
}

remove() {
    local made
    made="$(directory)"
    stop
    if [[ -n "$made" ]]; then rm -rf "$made"; fi
    rm -rf "$state"
}

status() {
    local process
    process="$(server_process)"
    if [[ -z "$process" ]]; then
        printf 'PostgreSQL "%s" does not run\n' "$name"
        return 1
    fi
    printf 'PostgreSQL "%s" runs as process %s in %s\n' "$name" "$process" "$(directory)"
}


case "$command" in
start | stop | remove)
    take_turns "postgres-$name"
    "$command"
    ;;
status) status ;;
process) server_process ;;
url)
    [[ -n "$(server_process)" && -f "$state/url" ]] || fail "PostgreSQL \"$name\" does not run" "Run: $0 start $name"
    cat "$state/url"
    ;;
*)
    usage >&2
    exit 2
    ;;
esac
