// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs
import SettingsReading
import Verification

extension Setting {
    /// Every key of the configuration file except those of a provider; run `make settings` after a change.
    static var declared: [Setting] { kafka + postgres + keys + worker + events + log + providers }

    private static var kafka: [Setting] {
        [
            Setting(.section, "kafka").described("how Kafka is reached"),
            Setting("kafka.bootstrapServers", \.kafka.bootstrapServers, .servers)
                .described("`host:port`, several with commas, blanks allowed"),
            Setting("kafka.groupId", \.kafka.groupID, .text(upTo: 249))
                .described("the consumer group; receipts have the same with `-receipts`"),
            Setting(.structure, "kafka.options", schema: KafkaSettings.optionsSchema).described(
                """
                librdkafka's own properties, such as `security.protocol`, `sasl.*`, `ssl.*`. Numbers are whole, without \
                a unit. By default members have a session of 6 s and clients ask for metadata every 5 s. Not allowed: \
                options that a guarantee depends on, such as `acks`, `isolation.level` or `partitioner`; \
                `group.instance.id`, which must differ between workers; another assignor than the eager default, \
                which Debian 12's librdkafka 2.0.2 needs
                """
            ),
            Setting(.section, "kafka.topics").described("four different topics"),
            Setting("kafka.topics.requests", \.kafka.topics.requests, .topic).described("in: requests"),
            Setting("kafka.topics.receipts", \.kafka.topics.receipts, .topic).described("in: receipts of providers"),
            Setting("kafka.topics.deliveries", \.kafka.topics.deliveries, .topic).described("out: events"),
            Setting("kafka.topics.deadLetters", \.kafka.topics.deadLetters, .topic)
                .described("out: what could not be read"),
        ]
    }

    /// Retention is at least a day: a request may be that old and a receipt may wait that long, and both must find
    /// their rows.
    private static var postgres: [Setting] {
        [
            Setting(.section, "postgres").described("how PostgreSQL is reached, and how long it keeps rows"),
            Setting(.secret, "postgres.url", fallback: "required").described(
                """
                a libpq URI; to another machine with `sslmode=verify-full`. Without `sslmode`, start and `run \
                --check` warn: libpq continues in clear text if the server has no TLS
                """
            ),
            Setting("postgres.retention", \.worker.retention, .duration(in: .seconds(86_400)...DurationText.longest))
                .described("how long rows are kept after their day"),
            Setting(.section, "policy").described("the rules"),
            Setting(file: "policy.path", \.policyPath, fallback: "required")
                .described("the file of the [policy](policy.md)"),
        ]
    }

    private static var keys: [Setting] {
        [
            Setting(.section, "keys").described("the key rings"),
            Setting(.secret, "keys.code", fallback: "required").described(
                """
                the [ring](operators.md#key-rotation) that makes codes: `id:base64[,id:base64…]`, the active key first; \
                keys of 32 bytes or more
                """
            ),
            Setting(.secret, "keys.hash", fallback: "required")
                .described("the ring that hashes codes; keys of 32 bytes or more"),
            Setting(.secret, "keys.fingerprint", fallback: "required")
                .described("the ring that fingerprints recipients; keys of 32 bytes or more"),
            Setting(.secret, "keys.seal", fallback: "required")
                .described("the ring that seals recipients; keys of exactly 32 bytes"),
        ]
    }

    private static var worker: [Setting] {
        [
            Setting(.section, "worker").described("how much one worker takes on, and how long it waits"),
            Setting("worker.cell", \.worker.cell, .integer(in: 0...255)).described(
                """
                the number of this fleet among [independent ones](scaling.md#cells), the last byte of its ids; a \
                database belongs to one
                """
            ),
            Setting("worker.maxInFlight", \.worker.maxInFlight, .integer(in: 1...100_000))
                .described("the maximum of sends that one worker holds"),
            Setting("worker.batchSize", \.worker.batchSize, .integer(in: 1...10_000))
                .described("the maximum of records in one transaction"),
            Setting("worker.maxRequestAge", \.worker.maxRequestAge, .duration(in: .seconds(1) ... .seconds(86_400)))
                .described("from this age on a request is `expired_unsent`"),
            Setting("worker.unknownOutcome", \.worker.unknownOutcome, .choice).described(
                """
                a send of unknown outcome is not sent again by itself; [`resend_once`](guarantees.md#resend_once): one \
                more attempt with the same code, by another provider of its route
                """
            ),
            Setting("worker.lease", \.worker.lease, .duration(in: .seconds(2) ... .seconds(600)))
                .described("how long a send belongs to its worker, at least 2.5 times `worker.callDeadline`"),
            Setting("worker.callDeadline", \.worker.callDeadline, .duration(in: .milliseconds(500) ... .seconds(60)))
                .described("the deadline of one call to a provider"),
            Setting("worker.receiptGrace", \.worker.receiptGrace, .duration(in: .seconds(1) ... .seconds(86_400)))
                .described("how long a receipt waits for its send"),
            Setting("worker.drainTimeout", \.worker.drainTimeout, .duration(in: .milliseconds(100) ... .seconds(3600)))
                .described("the time to finish at a stop; supervisors wait longer"),
            Setting(file: "worker.healthPath", \.worker.healthPath, fallback: "none")
                .described("the file of a worker's state, for [`code-courier health`](deployment.md#health)"),
        ]
    }

    private static var events: [Setting] {
        [
            Setting(.section, "events").described("which events are published beside those of requests and messages"),
            Setting("events.approved", \.worker.publishesApproved, .boolean).described(
                """
                also `approved` and `locked`, when the verifier's call has that result; one value for the whole fleet: \
                the last worker that starts sets it, and [consumers must know both](gateways.md#approved-and-locked)
                """
            ),
        ]
    }

    private static var log: [Setting] {
        [
            Setting(.section, "log").described("what is logged, and how"),
            Setting("log.level", \.log.level, .choice(synonyms: LogSettings.levels)).described(
                """
                the least severity: `trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`; the alerts \
                want `info` or below
                """
            ),
            Setting(
                "log.format",
                \.log.format,
                .choice(synonyms: LogSettings.formats),
                fallback: "`json` on a pipe, `text` on a terminal"
            ).described("`json`, `otel` or `text`; the alerts read `json`"),
            Setting("log.statsInterval", \.log.statsInterval, .duration(in: .seconds(1) ... .seconds(3600)))
                .described("how often a worker writes [`worker.stats`](log-events.md); the alerts want 30 s at most"),
        ]
    }

    private static var providers: [Setting] {
        let list = Setting(.structure, "providers", fallback: "required", schema: "")
        return [list.described("a list: see [below](#providers)")]
    }
}
