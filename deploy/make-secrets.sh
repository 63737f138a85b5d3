#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the secrets of a new installation: four key rings with one random key each, passwords of the database's logins,
# and the database's URLs with these in them.
#
#   make-secrets.sh FOLDER [HOST [CA]]
#
#   HOST    where PostgreSQL is, as host or host:port (default: postgres)
#   CA      the CA of its certificate, as a path where the URLs are used: they ask for TLS then. It may be left out for
#           this machine (127.0.0.1) and for compose.yaml (postgres), whose server has no TLS, so that the URLs ask for
#           none, and where every URL is there already
#
# Existing files are left as they are: a lost key makes codes, hashes and sealed recipients unreadable. An existing URL that
# does not fit HOST and CA is reported.
# The folder is for its owner alone; its files can be read by every user that they are mounted for.
set -euo pipefail

folder="${1:-}"
given_host="${2:-}"
host="${given_host:-postgres}"
authority="${3:-}"
if [[ -z "$folder" || "$folder" == -* ]]; then
    sed -n '3,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2
    exit 2
fi

fail() {
    printf 'error: %s\n' "$1" >&2
    shift
    for line in "$@"; do printf '       %s\n' "$line" >&2; done
    exit 1
}

command -v openssl >/dev/null || fail "openssl is needed"
local_host='^(postgres|localhost|127\.0\.0\.1|\[::1\])(:[0-9]+)?$'
security=""
if [[ -n "$authority" ]]; then
    [[ "$authority" =~ ^/[A-Za-z0-9._/-]+$ ]] || fail "a CA is named by its whole path, of letters, digits and ._/-"
    security="?sslmode=verify-full&sslrootcert=$authority"
elif [[ "$host" =~ ^postgres(:[0-9]+)?$ ]]; then
    security="?sslmode=disable"
elif [[ ! "$host" =~ $local_host ]] && ! ls "$folder"/{owner,postgres,monitor}-url >/dev/null 2>&1; then
    fail "PostgreSQL on another machine needs TLS, and so the path of its CA" \
        "As in: $0 $folder $host /etc/code-courier/postgres-ca.crt"
fi

umask 077
mkdir -p "$folder"
chmod 700 "$folder"

# Writes a value to a file of that name, whole or not at all, unless there is one. No newline follows it: KEDA would
# take it for a part of a URL.
keep() {
    local file="$folder/$1"
    if [[ -e "$file" ]]; then
        [[ -s "$file" ]] || fail "$file is empty" "Delete it and run this again."
        printf 'kept    %s\n' "$file" >&2
        return
    fi
    rm -f "$file.new"
    printf '%s' "$2" >"$file.new"
    chmod 0444 "$file.new"
    mv "$file.new" "$file"
    printf 'written %s\n' "$file" >&2
}

warn_of() { printf 'warning: %s %s; it is kept: delete it and run this again for a new one\n' "$1" "$2" >&2; }

# A random value of so many characters: openssl's options follow.
random() {
    local value
    if ! value="$(openssl rand "${@:2}")" || ((${#value} != $1)); then fail "openssl made no random value"; fi
    printf '%s' "$value"
}

# The password of a login, and the URL with it. A URL that has another password is refused before that is written: it
# may hold the only copy of the one that the database knows.
make_login() {
    local file="$folder/$1-password" user="$2" url="$folder/$3" password="" known="" server options
    if [[ -e "$file" ]]; then password="$(cat "$file")"; fi
    if [[ -e "$url" ]]; then known="$(cat "$url")"; fi
    if [[ "$known" == *://*:*@* && "$known" != *":$password@"* ]]; then
        fail "$url does not have the password of $file" \
            "Put the password of the URL into that file; or, for a new one, delete both files and run this again," \
            "and give it to the login in the database, if that is there: ALTER ROLE $user PASSWORD '…'."
    fi
    server="${known##*@}"
    server="${server%%[/?]*}"
    options="&${known#*\?}&"
    if [[ -n "$known" && -n "$given_host" && "$server" != "$host" ]]; then
        warn_of "$url" "names $server and not $host"
    elif [[ -n "$known" && -n "$authority" ]] &&
        [[ "$options" != *"&sslmode=verify-full&"* || "$options" != *"&sslrootcert=$authority&"* ]]; then
        warn_of "$url" "does not ask for TLS with sslmode=verify-full and that CA"
    fi
    if [[ -z "$password" ]]; then password="$(random 48 -hex 24)"; fi
    keep "$1-password" "$password"
    keep "$3" "postgresql://$user:$password@$host/courier$security"
}

for ring in code hash fingerprint seal; do
    key="$(random 44 -base64 32)"
    keep "$ring" "1:$key"
done
make_login owner courier_owner owner-url
make_login worker code_courier postgres-url
make_login monitor courier_watch monitor-url
