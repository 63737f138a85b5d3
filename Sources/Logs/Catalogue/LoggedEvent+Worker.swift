// SPDX-License-Identifier: Apache-2.0

import Logging

// MARK: - The worker

extension LoggedEvent {
    package static let workerStarted = LoggedEvent(
        "worker.started",
        .notice,
        "worker started",
        [.version, .librdkafka, .policyVersion, .fileDescriptors]
    )
    package static let workerStopping = LoggedEvent(
        "worker.stopping",
        .notice,
        "worker is stopping",
        [.signal]
    )
    package static let workerStopped = LoggedEvent("worker.stopped", .notice, "worker stopped")
    package static let workerEnded = LoggedEvent(
        "worker.ended",
        .warning,
        "worker ends at once, without draining",
        [.signal]
    )
    package static let workerDrainTimeout = LoggedEvent(
        "worker.drain_timeout",
        .warning,
        "drain timeout: unfinished work is left to other workers"
    )
    package static let workerFailed = LoggedEvent(
        "worker.failed",
        .critical,
        "worker failed",
        [.error, .reason, .broker, .topic, .partition]
    )
    package static let workerStalled = LoggedEvent(
        "worker.stalled",
        .critical,
        "worker stalled: exiting so that its supervisor restarts it",
        [.stalled]
    )
    package static let workerStats = LoggedEvent(
        "worker.stats",
        .info,
        "statistics of the interval",
        [
            .interval, .uptime, .requests, .repeats, .decisions, .unavailable, .regions, .providers, .deadRoutes,
            .rules, .brake, .spend, .feedback,
            .unreadHints, .deadLetters, .inFlight, .maxInFlight, .outbox, .dueSends, .oldestSnapshot, .lag,
            .oldestUnread, .topicFaults, .latency, .errors, .residentBytes, .processorTime,
        ]
    )
}

// MARK: - The clock

extension LoggedEvent {
    package static let clockOff = LoggedEvent(
        "clock.off",
        .warning,
        "the clock is over 5 s off the database's: synchronize both by NTP",
        [.leadMilliseconds],
        again: .seconds(600)
    )
    package static let clockHeld = LoggedEvent(
        "clock.held",
        .error,
        "the clock is over a minute off the database's: no request is decided",
        [.leadMilliseconds],
        again: .seconds(30)
    )
    package static let clockRight = LoggedEvent(
        "clock.right",
        .notice,
        "the clock is within 5 s of the database's",
        [.leadMilliseconds]
    )
}

// MARK: - Configuration

extension LoggedEvent {
    package static let configurationVariableUnknown = LoggedEvent(
        "configuration.variable_unknown",
        .warning,
        "unknown environment variable, similar to a known one: check its name",
        [.variable, .nearest]
    )
    package static let postgresWithoutTLS = LoggedEvent(
        "postgres.without_tls",
        .warning,
        "the remote database's URL has no sslmode, so TLS is optional: add sslmode=verify-full",
        [.server, .setting]
    )
    package static let eventsSwitched = LoggedEvent(
        "events.switched",
        .notice,
        "this start has changed events.approved for the fleet: give all workers the same value",
        [.setting]
    )
    package static let kafkaLibraryOld = LoggedEvent(
        "kafka.library_old",
        .warning,
        "SCRAM on Kafka 4 needs librdkafka 2.6.1 or newer: older ones fail with the right password",
        [.librdkafka]
    )
}

// MARK: - Policy

extension LoggedEvent {
    package static let policyLoaded = LoggedEvent("policy.loaded", .notice, "policy loaded", [.policyVersion])
    package static let policyReloaded = LoggedEvent(
        "policy.reloaded",
        .notice,
        "policy reloaded",
        [.policyVersion, .previousVersion]
    )
    package static let policyRefused = LoggedEvent(
        "policy.refused",
        .error,
        "policy refused: the previous one stays in force",
        [.fault, .policyVersion]
    )
    package static let policyVersionReused = LoggedEvent(
        "policy.version_reused",
        .warning,
        "the policy changed without a new version: events cannot show which one decided",
        [.policyVersion]
    )
    package static let policyRecorded = LoggedEvent(
        "policy.recorded",
        .info,
        "a rule recorded the request and let it pass",
        [.rule, .tenant, .requestID, .region, .traceID, .spanID],
        throttledBy: [.rule, .tenant]
    )
}

// MARK: - Secrets

extension LoggedEvent {
    package static let secretsReloaded = LoggedEvent(
        "secrets.reloaded",
        .notice,
        "secrets reloaded",
        [.codeKeys, .hashKeys, .sealKeys]
    )
    package static let secretsRefused = LoggedEvent(
        "secrets.refused",
        .error,
        "secrets refused: the previous ones stay in use",
        [.fault]
    )
}

// MARK: - The log itself

extension LoggedEvent {
    package static let logSuppressed = LoggedEvent(
        "log.suppressed",
        .warning,
        "similar lines left out to limit their rate",
        [
            .logEvent, .suppressed, .provider, .outcome, .errorCode, .error, .stage, .reason, .rule, .tenant, .scope,
            .budget, .percent,
        ]
    )
    package static let logDropped = LoggedEvent(
        "log.dropped",
        .warning,
        "log lines lost: the output's reader was too slow or gone",
        [.dropped]
    )

    /// A library's message, without the library's own fields, since they may contain personal data.
    package static let libraryMessage = LoggedEvent("library.message", .warning, "a library's message")
}
