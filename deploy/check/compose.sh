#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks compose.yaml: by Compose itself where it is there, and its references, files and deadlines in any case; and
# that the image it builds is given what it copies.
set -euo pipefail
# shellcheck source=deploy/check/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"

file=deploy/compose.yaml
/usr/bin/python3 deploy/check/check_ignore.py deploy/Containerfile

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/deploy"
cp -r "$file" deploy/compose deploy/Containerfile "$folder/deploy"
deploy/make-secrets.sh "$folder/deploy/secrets" 2>/dev/null
(cd "$folder" && /usr/bin/python3 "$root/deploy/check/check_compose.py" "$file")

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
