#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tries the packages of both stages of the Containerfile in bare Debian 12 roots of their own, and the programs in the
# second one. It fetches some 300 MB and needs root, so it is no part of `make lint`.
#
#   containerfile.sh [PROGRAM [SANDBOX]]    PROGRAM: a code-courier of deploy/release.sh, to be started there;
#                                           SANDBOX: a code-courier-sandbox
set -euo pipefail
# shellcheck source=deploy/check/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"

program="${1:-}"
sandbox="${2:-}"
((EUID == 0)) || fail "a root of its own can be made by root alone"
command -v debootstrap >/dev/null || fail "there is no debootstrap" "Run: apt-get install debootstrap"
mirror="${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
folder="$(mktemp -d "${TMPDIR:-/var/tmp}/containerfile.XXXXXX")"
trap 'rm -rf --one-file-system "$folder"' EXIT

# The packages of the n-th `apt-get install` of the Containerfile.
packages() {
    sed -e ':join' -e '/\\$/{N;s/\\\n//;b join' -e '}' deploy/Containerfile |
        sed -n 's/.*apt-get install --yes --no-install-recommends \([^&]*\)&&.*/\1/p' | sed -n "${1}p" | xargs
}

in_root() { chroot "$folder/$1" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "${@:2}"; }

[[ -n "$(packages 1)" && -n "$(packages 2)" && -z "$(packages 3)" ]] || fail "the Containerfile has not two stages"

say "Making a bare Debian 12"
debootstrap --variant=minbase bookworm "$folder/runtime" "$mirror" >"$folder/log" 2>&1 ||
    fail "debootstrap failed" "$(tail -n 5 "$folder/log")"
cp -a "$folder/runtime" "$folder/build"

install_in() {
    local stage="$1" words
    shift
    say "Installing in the $stage stage: $*"
    words="$(in_root "$stage" apt-get install --yes --no-install-recommends "$@" 2>&1)" ||
        fail "the packages of the $stage stage cannot be installed" "$(tail -n 5 <<<"$words")"
}

# shellcheck disable=SC2046 # one word a package
install_in build $(packages 1)
for name in rdkafka libpq libcurl libidn2 zlib re2; do
    in_root build pkg-config --exists "$name" || fail "the build stage has no $name"
done
in_root build python3 -m pip --version >/dev/null || fail "the build stage has no pip"

# shellcheck disable=SC2046 # one word a package
install_in runtime $(packages 2)
say "Fetching librdkafka"
deploy/librdkafka.sh "$folder/runtime/usr/local/lib"
in_root runtime ldconfig
for machine_library in "$folder"/runtime/usr/lib/*/librdkafka.so.1; do
    [[ ! -e "$machine_library" ]] || fail "the runtime stage has Debian's librdkafka, too"
done
missing="$(in_root runtime ldd /usr/local/lib/librdkafka.so.1 | grep 'not found' || true)"
[[ -z "$missing" ]] || fail "the runtime stage lacks what librdkafka needs" "$missing"
if [[ -z "$program" ]]; then
    say "NOT CHECKED: that the runtime stage starts the program: none was given"
    exit 0
fi

# Installs a program, and checks that the runtime stage has its libraries.
install_program() {
    install -m 755 "$1" "$folder/runtime/usr/local/bin/$2"
    missing="$(in_root runtime ldd "/usr/local/bin/$2" | grep 'not found' || true)"
    [[ -z "$missing" ]] || fail "the runtime stage lacks libraries of $2" "$missing"
}

# A Swift program reads its arguments from /proc.
run_program() {
    unshare --mount --pid --fork --root="$folder/runtime" --mount-proc \
        setpriv --reuid 10001 --regid 10001 --clear-groups tini -- "/usr/local/bin/$1" "${@:2}"
}

install_program "$program" code-courier
version="$(run_program code-courier --version)"
[[ "$version" =~ ^[0-9]+\.[0-9]+\.[0-9]+\ \( ]] || fail "the program does not tell its version" "$version"
[[ "$version" == *"librdkafka 2.16"* ]] || fail "the program does not load the librdkafka of the image" "$version"
say "In the runtime stage: $version"
if [[ -z "$sandbox" ]]; then
    say "NOT CHECKED: that the stage starts the sandbox: none was given"
    exit 0
fi
install_program "$sandbox" code-courier-sandbox
run_program code-courier-sandbox --help >/dev/null || fail "the sandbox does not start in the runtime stage"
say "In the runtime stage: the sandbox"
