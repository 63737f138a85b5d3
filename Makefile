# SPDX-License-Identifier: Apache-2.0
# Two commands are enough to begin with: `make demo` and `make test`.
# Both need Debian 12 with Swift 6.3 and, for the packages they install, root or sudo.

.DEFAULT_GOAL := help
.PHONY: help demo check check-schemas test test-kafka faults bench build docs lint format settings numbers stop clean

help:
	@echo 'code-courier delivers one-time verification codes from Kafka to phones.'
	@echo ''
	@echo '  make demo          see it work: builds it, starts all it needs, shows codes arrive; Ctrl-C ends it'
	@echo '  make demo ONCE=1   the same without waiting; the last line of stdout is its result in JSON'
	@echo '  make check         the loop while you change something, in two minutes: style, rules, providers, one pass'
	@echo '                     over the servers'
	@echo '  make test          every test, in a quarter of an hour; with KAFKA_HOME on a real Apache Kafka of three nodes,'
	@echo '                     else on a broker process'
	@echo '  make test PARTS="tables faults"  some parts of it: `deploy/local/parts.py --list` names them'
	@echo '  make test ALL=1    what CI runs: with AddressSanitizer and the limits of allocations'
	@echo ''
	@echo '  make test-kafka    the tests of Kafka alone, on the Apache Kafka that KAFKA_HOME names'
	@echo '  make test-kafka FULL=1  on one node, too, with both versions of librdkafka, and fleets under faults'
	@echo '  make check-schemas TOOLS=folder  hold the schemas against the validators that users run'
	@echo ''
	@echo '  make faults        kill, pause and stop workers and what they stand on; the last line of stdout sums it up'
	@echo '  make faults FULL=1 the same for over an hour instead of two minutes'
	@echo ''
	@echo '  make bench         measure the worker on the Kafka of KAFKA_HOME, a usual Python worker and the SQL alone;'
	@echo '                     the last line sums it up; under ten minutes once it is built'
	@echo '  make bench BENCH="--peer PATH"  the same beside two Go workers, those of the program go-peers'
	@echo '  make bench BENCH=--help         all its parts and options'
	@echo ''
	@echo '  make build         install what is missing and build the commands'
	@echo '  make docs          render the reference of the code into .local/docs'
	@echo '  make lint          check style, scripts, schemas, test vectors and pages, without building'
	@echo '  make format        bring the Swift files into the style that lint asks for'
	@echo '  make settings      write the declared settings into docs/configuration.md and the schema of courier.yaml'
	@echo '  make numbers       write the numbering plans anew, from the libphonenumber that is named in'
	@echo '                     deploy/local/numbers-requirements.txt, and compare them with its own answers'
	@echo '  make numbers CHECK=1  compare what is there'
	@echo '  make stop          stop PostgreSQL and the broker that a shell or a cut-off run has left'
	@echo '  make clean         stop them and delete what was made: .build and .local'
	@echo ''
	@echo 'To run tests by hand:                 eval "$$(deploy/local/environment.sh)" && swift test'
	@echo 'To test on a Kafka of your own:       COURIER_TEST_KAFKA=host:port make test'
	@echo 'To test on a PostgreSQL of your own:  COURIER_TEST_POSTGRES_URL=postgresql://… make test'

demo:
	@deploy/local/demo.sh $(if $(filter-out 0 no false,$(ONCE)),--once)

check:
	@deploy/local/test.sh --check

check-schemas:
	@deploy/local/install.sh tests
	@deploy/local/check-schemas.sh $(TOOLS)

test:
	@deploy/local/test.sh $(if $(filter-out 0 no false,$(ALL)),--all,$(PARTS))

test-kafka:
	@deploy/local/test.sh --kafka$(if $(filter-out 0 no false,$(FULL)),-full)

faults:
	@deploy/local/test.sh --faults$(if $(filter-out 0 no false,$(FULL)),-full)

bench:
	@deploy/local/bench.sh $(BENCH)

build:
	@deploy/local/install.sh
	swift build --product code-courier
	swift build --product code-courier-sandbox

docs:
	@deploy/local/install.sh
	@deploy/local/docs.sh

lint:
	@deploy/local/install.sh tests
	@deploy/local/lint.sh

format:
	swift format --in-place --recursive --parallel Sources Tests Package.swift

settings:
	swift run code-courier settings

numbers:
	@deploy/local/install.sh tests
	@deploy/local/wheels.sh numbers
	@.local/python/bin/python deploy/number_plans.py .local/numbers/*.whl $(if $(filter-out 0 no false,$(CHECK)),--check)

stop:
	@deploy/local/stop.sh

clean: stop
	rm -rf .build .local
