#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks compose.yaml: by Compose itself where it is there, and its references, files and deadlines in any case; that the
# image it builds is given what it copies; and that make-secrets.sh can be run again.
set -euo pipefail
# shellcheck source=deploy/check/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"

file=deploy/compose.yaml
/usr/bin/python3 deploy/check/check_compose.py "$file"
/usr/bin/python3 deploy/check/check_ignore.py deploy/Containerfile
bash -n deploy/make-secrets.sh

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/deploy"
cp -r "$file" deploy/compose deploy/Containerfile "$folder/deploy"
deploy/make-secrets.sh "$folder/deploy/secrets" 2>/dev/null

# What is lost is made anew, and nothing else is touched.
cp -r "$folder/deploy/secrets" "$folder/first"
rm "$folder/deploy/secrets/seal"
deploy/make-secrets.sh "$folder/deploy/secrets" 2>/dev/null || fail "make-secrets.sh does not run twice (exit code $?)"
differences="$(diff --recursive --brief "$folder/first" "$folder/deploy/secrets" || true)"
[[ "$differences" == "Files $folder/first/seal and $folder/deploy/secrets/seal differ" ]] ||
    fail "a second run of make-secrets.sh does not bring back the lost secret alone" "$differences"

if docker compose version >/dev/null 2>&1; then
    docker compose --file "$folder/$file" --profile tools config --quiet
    say "compose.yaml: taken by $(docker compose version | head -n 1)"
elif command -v docker-compose >/dev/null; then
    # Debian's is of the generation before the project could name itself.
    sed -i '/^name:/d' "$folder/$file"
    docker-compose --file "$folder/$file" --profile tools config --quiet
    say "compose.yaml: taken by $(docker-compose version --short | sed 's/^/docker-compose /')"
else
    not_checked "$file as Compose reads it" "docker compose, nor docker-compose"
fi
