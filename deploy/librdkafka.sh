#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches Confluent's own build of librdkafka 2.16, out of the wheel confluent-kafka from PyPI, which is known by its hash:
# the image has this one, the tests run with it, and a host with Debian 12 may. It needs nothing but the C library.
#
#   librdkafka.sh FOLDER     puts librdkafka.so.1, and its license, into FOLDER, for LD_LIBRARY_PATH or the loader's list
#
# PYTHON names a Python with pip, python3 by default; PIP_INDEX_URL another index than PyPI. No Python is run later.
set -euo pipefail

folder="${1:?the folder for librdkafka.so.1}"
python="${PYTHON:-python3}"
machine="$(uname -m)"
unpacked="$(mktemp -d)"
trap 'rm -rf "$unpacked"' EXIT

# The hashes of the x86-64 and the 64-bit ARM wheels.
cat >"$unpacked/requirements.txt" <<'WHEELS'
confluent-kafka==2.16.1 \
    --hash=sha256:24f613cc81a856b6fbb2d7d11044a9aa770044eecc1f83ff84618688b056be06 \
    --hash=sha256:c012a1d74f95e91c9c43f0aa996d5fea8582397144c1f96b553f24b594afa7c6
WHEELS
# The wheel is an archive: it is unpacked, not installed, so its Python version is of no account.
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
    --implementation cp --python-version 3.11 \
    --platform "manylinux_2_28_$machine" --platform "manylinux2014_$machine" \
    --require-hashes --requirement "$unpacked/requirements.txt" --dest "$unpacked"
"$python" -m zipfile -e "$unpacked"/confluent_kafka-*.whl "$unpacked"
install -D -m 644 "$unpacked"/confluent_kafka.libs/librdkafka-*.so.1 "$folder/librdkafka.so.1"
install -m 644 "$unpacked"/confluent_kafka-*.dist-info/licenses/LICENSE "$folder/librdkafka.LICENSE"
