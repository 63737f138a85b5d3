#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Renders the reference of the targets that others may build on into .local/docs/, and fails on any warning.
#
# The targets' interface is `package`, which swift-docc-plugin leaves out: so the symbols are taken from what is built.
set -euo pipefail
# shellcheck source=deploy/local/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"
cd "$root"

targets=(Verification KafkaClient PostgresClient Courier Providers)
output="$local_directory/docs"

if [[ "${1:-}" != "--skip-build" ]]; then swift build --product code-courier >&2; fi
modules="$(swift build --show-bin-path)/Modules"
machine="$(swift -print-target-info | python3 -c 'import json, sys; print(json.load(sys.stdin)["target"]["triple"])')"

# The module maps of C targets, where SwiftPM keeps them and where it makes them, and libpq's headers.
maps=()
while IFS= read -r map; do maps+=(-Xcc "-fmodule-map-file=$map"); done < <(
    find "$(dirname "$modules")" -maxdepth 2 -name module.modulemap
    find Sources .build/checkouts/*/Sources -maxdepth 3 -name module.modulemap
)

for flag in $(pkg-config --cflags-only-I libpq); do maps+=(-Xcc "$flag"); done

rm -rf "$output"
for target in "${targets[@]}"; do
    graphs="$output/$target.symbols"
    mkdir -p "$graphs"
    swift-symbolgraph-extract -module-name "$target" -I "$modules" "${maps[@]}" -target "$machine" \
        -minimum-access-level package -skip-inherited-docs -output-dir "$graphs"
    docc convert "Sources/$target/Documentation.docc" --warnings-as-errors \
        --fallback-display-name "$target" --fallback-bundle-identifier "code-courier.$target" \
        --additional-symbol-graph-dir "$graphs" --output-dir "$output/$target.doccarchive" >&2
    say "Rendered $target into ${output#"$root/"}/$target.doccarchive"
done
