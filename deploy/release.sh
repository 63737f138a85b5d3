#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds a program as it is shipped and prints its path: optimized across modules, and with Swift's standard library
# linked in, so that it needs nothing of Swift's where it runs.
#
#   release.sh [PRODUCT]    PRODUCT: code-courier unless told
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

product="${1:-code-courier}"
flags=(--configuration release --static-swift-stdlib -Xswiftc -cross-module-optimization)
swift build "${flags[@]}" --product "$product" >&2
printf '%s/%s\n' "$(swift build "${flags[@]}" --show-bin-path)" "$product"
