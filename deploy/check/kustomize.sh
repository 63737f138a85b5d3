#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Renders the Kubernetes manifests and checks what refers to what, what a pod is allowed, and whom it reaches.
set -euo pipefail
# shellcheck source=deploy/check/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"

# Debian's kubectl is of 2021 and does not know these kustomizations.
if command -v kustomize >/dev/null; then
    render() { kustomize build "$1"; }
elif kubectl version --client 2>/dev/null | grep -qE 'Kustomize Version: v([5-9]|[1-9][0-9])'; then
    render() { kubectl kustomize "$1"; }
else
    not_checked deploy/kustomize "kustomize, nor a kubectl of 1.27 or newer"
    exit 0
fi

# Checks an overlay of a folder, and that each part of its network is missed.
check() {
    local manifests
    manifests="$(render "$1/$2")"
    for script in check_manifests test_network; do
        /usr/bin/python3 "deploy/check/$script.py" "$2" <<<"$manifests"
    done
}

for overlay in base overlays/production; do check deploy/kustomize "$overlay"; done

# The example once more, with a provider behind a proxy and the patch for it.
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cp -r deploy/kustomize/. "$folder"
production="$folder/overlays/production"
patch="$(sed -n 's/^# *\(- { path: proxy.yaml\)/  \1/p' "$production/proxy.yaml")"
sed -i "s|^  - path: network-policy.yaml|&\n$patch|" "$production/kustomization.yaml"
sed -i 's|kind: twilio,|& proxy: "http://10.20.30.40:3128",|' "$production/courier.yaml"
check "$folder" overlays/production
