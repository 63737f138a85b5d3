#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Renders the Kubernetes manifests and checks what refers to what, and what a pod is allowed.
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

for overlay in base overlays/production; do
    render "deploy/kustomize/$overlay" | /usr/bin/python3 deploy/check/check_manifests.py "$overlay"
done
