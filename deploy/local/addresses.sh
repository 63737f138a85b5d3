#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the suites of what speaks to C libraries with AddressSanitizer and runs them: librdkafka, libpq, libcurl. An
# access outside of what was allocated, or after it was freed, ends the run with both stacks, and so does what nobody freed
# by the end.
#
# COURIER_TEST_POSTGRES_URL names the PostgreSQL; Kafka is librdkafka's own cluster.
set -euo pipefail
# shellcheck source=deploy/local/shared.sh
source "$(dirname "${BASH_SOURCE[0]}")/shared.sh"
cd "$root"

export COURIER_SUITES=KafkaClientTests,PostgresClientTests,SMTPClientTests
unset COURIER_TEST_KAFKA COURIER_TEST_KAFKA_CLUSTER COURIER_TEST_KAFKA_REPLICAS
flags=(--build-tests --sanitize=address --scratch-path .build/addresses)
swift build "${flags[@]}" >&2
tests="$(find "$(swift build "${flags[@]}" --show-bin-path)" -maxdepth 1 -name '*.xctest' | head -n 1)"
export LSAN_OPTIONS="suppressions=$root/deploy/local/leaks.txt:print_suppressions=0"
exec "$tests" --testing-library swift-testing --skip '\.(ApacheKafkaTests|BrokerProcessTests)/' \
    --experimental-maximum-parallelization-width 8
