# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the scripts beside it: where things are, and how they speak.

# The root of the checkout, whatever the caller's directory.
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)"

# Everything that is made at run time and can be thrown away.
local_directory="$root/.local"

# Progress goes to stderr: stdout belongs to what a caller reads (a URL, the demo's JSON line).
say() { printf '%s\n' "$*" >&2; }

fail() {
    printf 'error: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '       %s\n' "$line" >&2; done
    exit 1
}

# A port of 127.0.0.1 on which nobody listens now, below the range that the kernel gives to outgoing connections.
free_port() {
    local port
    for _ in {1..100}; do
        port=$((15000 + RANDOM % 15000))
        if ! accepts "$port"; then
            printf '%s\n' "$port"
            return
        fi
    done
    fail "no free port found on 127.0.0.1"
}

# True when something accepts connections on that port of 127.0.0.1.
accepts() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Waits for a process to end, at most that many tenths of a second.
wait_for_end() {
    local process="$1" tenths="$2"
    while alive "$process" && ((tenths-- > 0)); do sleep 0.1; done
    ! alive "$process"
}

# True when a process runs, also one of another user; false for a zombie.
alive() { [[ -r "/proc/$1/stat" ]] && [[ "$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null)" != [ZX] ]]; }

# The process whose number a file has in its first line, or nothing: a number left from a crash may be another process's
# now, so this argument must be on its command line.
running_process() {
    local process
    process="$(head -n 1 "$1" 2>/dev/null || true)"
    [[ "$process" =~ ^[0-9]+$ ]] && alive "$process" || return 0
    if tr '\0' '\n' <"/proc/$process/cmdline" 2>/dev/null | grep -qxF -- "$2"; then printf '%s\n' "$process"; fi
}

# Ends a process by a signal, and after that many tenths of a second by a harder one; false when it still runs 10 s later.
end_process() {
    local process="$1" signal="$2" tenths="$3" harder="$4"
    kill -s "$signal" "$process"
    wait_for_end "$process" "$tenths" || { kill -s "$harder" "$process" && wait_for_end "$process" 100; }
}

# The text at the head of the caller's file.
usage() { sed -n '3,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; }

# Runs the rest of the caller under a lock of its own, so that two callers in one checkout take turns.
# Programs that outlive the caller must be started with `9>&-`, else they keep the lock.
take_turns() {
    mkdir -p "$local_directory"
    exec 9>"$local_directory/$1.lock"
    flock --wait 60 9 || fail "another process has held $local_directory/$1.lock for a minute"
}

# Runs a long program in a process group of its own, waits for it and returns its exit code. SIGINT, SIGTERM and SIGHUP
# to this script go on to that group as SIGINT: bash would otherwise hold a SIGTERM back until the program has ended by
# itself, and `swift test` leaves the tests running when it gets anything but SIGINT.
# It is not for what asks on the terminal, as sudo does: in such a group that is stopped and waits for ever.
run() {
    local code signalled=yes
    set -m
    "$@" 9>&- </dev/null &
    local group=$!
    set +m
    # shellcheck disable=SC2064 # the number is fixed now
    trap "signalled=yes; interrupt $group" INT TERM HUP
    # A signal to this script ends `wait` before the program has ended: then it waits again.
    while [[ -n "$signalled" ]]; do
        signalled=""
        code=0
        wait "$group" || code=$?
    done
    trap - INT TERM HUP
    return "$code"
}

# Set once a signal has asked the script to end: what would come next is left out.
stopping=""

interrupt() {
    # shellcheck disable=SC2034 # read by the scripts that source this
    stopping=yes
    kill -s INT -- "-$1" 2>/dev/null || true
}
