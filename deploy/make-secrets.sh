#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the secrets of a new installation: four key rings with one random key each, and passwords of the database.
#
#   make-secrets.sh FOLDER [HOST]    HOST: where PostgreSQL is, as host or host:port (default: postgres)
#
# A file that is there is left as it is: a key that is lost makes codes, hashes and sealed recipients unreadable.
# The folder is for its owner alone; the files in it can be read by whom they are mounted for.
set -euo pipefail

folder="${1:-}"
host="${2:-postgres}"
if [[ -z "$folder" || "$folder" == -* ]]; then
    sed -n '3,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2
    exit 2
fi
command -v openssl >/dev/null || { printf 'error: openssl is needed\n' >&2 && exit 1; }

umask 077
mkdir -p "$folder"

# Writes standard input to a file of that name, whole or not at all, unless there is one.
keep() {
    local file="$folder/$1"
    if [[ -e "$file" ]]; then
        printf 'kept    %s\n' "$file" >&2
        # Whoever writes to a pipe that nobody reads is ended, and this script with it.
        cat >/dev/null
        return
    fi
    cat >"$file.new"
    chmod 0444 "$file.new"
    mv "$file.new" "$file"
    printf 'written %s\n' "$file" >&2
}

for ring in code hash fingerprint seal; do printf '1:%s\n' "$(openssl rand -base64 32)" | keep "$ring"; done
for login in owner worker monitor; do openssl rand -hex 24 | keep "$login-password"; done
printf 'postgresql://courier_owner:%s@%s/courier\n' "$(cat "$folder/owner-password")" "$host" | keep owner-url
printf 'postgresql://code_courier:%s@%s/courier\n' "$(cat "$folder/worker-password")" "$host" | keep postgres-url
