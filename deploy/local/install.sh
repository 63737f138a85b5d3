#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that code-courier is built from, those that are missing and no others. Does nothing, in
# well under a second, when all are there. Swift itself is the one thing it expects to find.
#
#   install.sh          what building, running and the demo need
#   install.sh tests    that, and what tests, checks and measurements need
set -euo pipefail
# shellcheck source=deploy/local/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"

packages=(
    # what code-courier links
    librdkafka-dev libpq-dev libre2-dev libcurl4-openssl-dev libidn2-dev zlib1g-dev
    libjemalloc2
    # the database of the demo and the tests
    postgresql-15
    # what the Swift compiler and its package manager need
    g++ libstdc++-12-dev libc6-dev binutils pkg-config git libxml2 libsqlite3-0 libncurses6 zlib1g-dev tzdata unzip
    # what these scripts need
    make python3 ca-certificates util-linux procps
)

test_packages=(
    # the browser that tests the sandbox's page and the report
    chromium
    # the mail server of the tests
    python3-aiosmtpd
    # the pooler of the tests
    pgbouncer
    # what kills workers at their system calls in the fault tests
    strace
    # the environments of checks, of Amazon SNS and of the measurements
    python3-venv
    # what reads the files of deploy/ and makes their secrets
    python3-yaml openssl
    # the PostgreSQL driver of the examples in Java
    libpostgresql-jdbc-java
)

case "${1:-}" in
"") ;;
tests)
    packages+=("${test_packages[@]}")
    # Checks of deploy/ and schemas/ use these programs wherever they come from; Debian's packages serve when there are none.
    command -v javac >/dev/null || packages+=(default-jdk-headless)
    command -v node >/dev/null || packages+=(nodejs)
    command -v systemd-analyze >/dev/null || packages+=(systemd)
    docker compose version >/dev/null 2>&1 || command -v docker-compose >/dev/null || packages+=(docker-compose)
    ;;
*) fail "unknown option: $1" "Use: $0 [tests]" ;;
esac

# Debian's postgresql-15 makes and starts a cluster of its own on port 5432; this drop-in tells it not to.
cluster_setting=/etc/postgresql-common/createcluster.d/code-courier.conf

swift_advice="Install it from https://www.swift.org/install/linux/ and put its usr/bin first on the PATH."

check_swift_version() {
    local found
    found="$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' || true)"
    if [[ -z "$found" || "$(printf '6.3\n%s\n' "$found" | sort -V | head -n 1)" != 6.3 ]]; then
        fail "Swift 6.3 or newer is needed; $(command -v swift) is ${found:-of an unknown version}" "$swift_advice"
    fi
}

missing_packages() {
    local installed package
    installed=" $(dpkg-query -W -f='${Package}=${db:Status-Status} ' "${packages[@]}" 2>/dev/null || true)"
    for package in "${packages[@]}"; do
        [[ "$installed" == *" $package=installed "* ]] || printf '%s\n' "$package"
    done
}

install_packages() {
    local as_root=() apt=(apt-get -q -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120)
    if ((EUID != 0)); then
        command -v sudo >/dev/null || fail "Debian packages are missing, and this is neither root nor is there sudo" \
            "As root, run: apt-get update && apt-get install --no-install-recommends $*"
        as_root=(sudo)
    fi
    as_root+=(env DEBIAN_FRONTEND=noninteractive)

    if [[ " $* " == *" postgresql-15 "* ]]; then
        "${as_root[@]}" mkdir -p "$(dirname "$cluster_setting")"
        printf 'create_main_cluster = false\n' | "${as_root[@]}" tee "$cluster_setting" >/dev/null
        # shellcheck disable=SC2064 # the names are fixed now
        trap "${as_root[*]} rm -f '$cluster_setting'" EXIT
    fi
    say "Installing Debian packages: $*"
    {
        "${as_root[@]}" "${apt[@]}" update &&
            "${as_root[@]}" "${apt[@]}" install --no-install-recommends "$@"
    } >&2 </dev/null || fail "the packages could not be installed: see apt-get's words above" \
        "They are those of Debian 12 (bookworm), main section: check /etc/apt/sources.list and the network."
}

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    fail "this is not Debian: there is no apt-get" "Use Debian 12, or install the equivalents of: ${packages[*]}"
fi
command -v swift >/dev/null || fail "Swift 6.3 or newer is needed, and there is no swift on the PATH" "$swift_advice"
missing="$(missing_packages)"
# shellcheck disable=SC2086 # one word a package
if [[ -n "$missing" ]]; then install_packages $missing; fi
check_swift_version
