#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks make-secrets.sh: what it writes for a database here and elsewhere, what it brings back when it is run again,
# and that it leaves nothing behind that is half made or does not fit the rest.
set -euo pipefail
# shellcheck source=deploy/check/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
secrets="$folder/secrets"
words="$folder/words"

make_secrets() { deploy/make-secrets.sh "$@" 2>"$words"; }

refuses() {
    if make_secrets "${@:2}"; then fail "make-secrets.sh does not refuse $1"; fi
    grep -q '^error: ' "$words" || fail "make-secrets.sh refuses $1 without a word" "$(cat "$words")"
}

# True when each URL of a folder has its login's password and the given end.
fit() {
    local name
    for name in owner:owner-url worker:postgres-url monitor:monitor-url; do
        [[ "$(cat "$1/${name#*:}")" == "postgresql://"*":$(cat "$1/${name%:*}-password")@$2" ]] || return
    done
}

make_secrets "$secrets" || fail "make-secrets.sh fails" "$(cat "$words")"
fit "$secrets" "postgres/courier?sslmode=disable" || fail "the URLs of make-secrets.sh are not those of compose.yaml"

# A lost file is created again, and nothing else is touched.
cp -r "$secrets" "$folder/first"
rm "$secrets/seal"
make_secrets "$secrets" || fail "make-secrets.sh does not run twice" "$(cat "$words")"
differences="$(diff --recursive --brief "$folder/first" "$secrets" || true)"
[[ "$differences" == "Files $folder/first/seal and $secrets/seal differ" ]] ||
    fail "a second run of make-secrets.sh does not bring back the lost secret alone" "$differences"

rm "$secrets/worker-password"
refuses "a URL whose password is lost" "$secrets"
[[ ! -e "$secrets/worker-password" ]] || fail "make-secrets.sh makes a password that the URL does not have"
rm "$secrets/postgres-url"
make_secrets "$secrets" || fail "make-secrets.sh makes no new URL" "$(cat "$words")"
fit "$secrets" "postgres/courier?sslmode=disable" || fail "make-secrets.sh makes a URL without its password"

refuses "a database elsewhere without a CA" "$folder/elsewhere" db.example.com:5433
make_secrets "$folder/elsewhere" db.example.com:5433 /run/ca.crt || fail "make-secrets.sh takes no CA" "$(cat "$words")"
fit "$folder/elsewhere" "db.example.com:5433/courier?sslmode=verify-full&sslrootcert=/run/ca.crt" ||
    fail "the URLs of a database elsewhere do not ask for TLS"

# A CA is asked for where a URL has to be written, and a URL that is kept without TLS is told of.
make_secrets "$folder/elsewhere" db.example.com:5433 ||
    fail "make-secrets.sh asks for a CA without need" "$(cat "$words")"
make_secrets "$folder/elsewhere" db.example.com:5433 /run/ca.crt || fail "make-secrets.sh fails" "$(cat "$words")"
if grep -q '^warning: ' "$words"; then fail "make-secrets.sh warns of URLs that ask for TLS" "$(cat "$words")"; fi
cp -r "$folder/elsewhere" "$folder/plain"
rm "$folder/plain/owner-url"
refuses "a URL to be written without a CA" "$folder/plain" db.example.com:5433
chmod u+w "$folder/plain/postgres-url"
printf 'postgresql://code_courier:%s@db.example.com:5433/courier' "$(cat "$folder/plain/worker-password")" \
    >"$folder/plain/postgres-url"
chmod 755 "$folder/plain"
make_secrets "$folder/plain" db.example.com:5433 /run/ca.crt || fail "make-secrets.sh refuses a URL without TLS"
[[ "$(grep '^warning: ' "$words")" == "warning: $folder/plain/postgres-url does not ask for TLS"* ]] ||
    fail "make-secrets.sh does not tell of the one URL without TLS" "$(cat "$words")"
[[ "$(stat --format %a "$folder/plain")" == 700 ]] || fail "make-secrets.sh leaves a folder open that was there"

# So are URLs that are kept for another server or another CA; without HOST there is nothing to compare them with.
tells() {
    make_secrets "${@:2}" || fail "make-secrets.sh fails" "$(cat "$words")"
    [[ "$(grep -c "^warning: $2/[a-z]*-url $1" "$words")" == 3 ]] ||
        fail "make-secrets.sh does not tell: $1" "$(cat "$words")"
}
tells "names postgres and not db.example.com" "$secrets" db.example.com /run/ca.crt
tells "names db.example.com:5433 and not 127.0.0.1" "$folder/elsewhere" 127.0.0.1
tells "does not ask for TLS .* that CA" "$folder/elsewhere" db.example.com:5433 /run/new-ca.crt
make_secrets "$folder/elsewhere" || fail "make-secrets.sh fails" "$(cat "$words")"
if grep -q '^warning: ' "$words"; then fail "make-secrets.sh warns without a HOST" "$(cat "$words")"; fi

make_secrets "$folder/here" 127.0.0.1:5433 || fail "make-secrets.sh asks for a CA on this machine" "$(cat "$words")"

mkdir "$folder/bin"
for fault in 'exit 1' 'echo abc' 'echo abc; exit 1' '/usr/bin/openssl "$@"; exit 1'; do
    printf '#!/bin/sh\n%s\n' "$fault" >"$folder/bin/openssl"
    chmod 755 "$folder/bin/openssl"
    PATH="$folder/bin:$PATH" refuses "an openssl that does '$fault'" "$folder/none"
    [[ -z "$(ls -A "$folder/none")" ]] || fail "make-secrets.sh writes secrets after '$fault'" "$(ls -A "$folder/none")"
done
say "make-secrets.sh: makes, keeps and refuses what it should"
