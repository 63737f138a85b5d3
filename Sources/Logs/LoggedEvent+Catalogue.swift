// SPDX-License-Identifier: Apache-2.0

import Logging

// Every line that a worker writes. A name is published once it stands here: it keeps its meaning, and fields are only
// added. `LogCatalogue.version` is raised with every change.

// MARK: - The worker

extension LoggedEvent {
    package static let workerStarted = LoggedEvent(
        "worker.started",
        .notice,
        "worker started",
        [.workerID, .version, .librdkafka, .policyVersion, .fileDescriptors]
    )
    package static let workerStopping = LoggedEvent(
        "worker.stopping",
        .notice,
        "worker is stopping",
        [.workerID, .signal]
    )
    package static let workerStopped = LoggedEvent("worker.stopped", .notice, "worker stopped", [.workerID])
    package static let workerEnded = LoggedEvent(
        "worker.ended",
        .warning,
        "worker ends at once",
        [.workerID, .signal]
    )
    package static let workerDrainTimeout = LoggedEvent(
        "worker.drain_timeout",
        .warning,
        "what is not finished is left to other workers: the time to stop is over",
        [.workerID]
    )
    package static let workerFailed = LoggedEvent(
        "worker.failed",
        .critical,
        "worker failed",
        [.workerID, .error, .reason, .broker, .topic, .partition]
    )
    package static let workerStalled = LoggedEvent(
        "worker.stalled",
        .critical,
        "worker does not get on and ends, so that it is started anew",
        [.workerID, .stalled]
    )
    package static let workerStats = LoggedEvent(
        "worker.stats",
        .info,
        "what the worker did in the interval",
        [
            .workerID, .interval, .uptime, .requests, .repeats, .decisions, .regions, .providers, .rules,
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
        "the clock differs from the database's by more than 5 s: set both right, such as by NTP",
        [.workerID, .leadMilliseconds]
    )
    package static let clockHeld = LoggedEvent(
        "clock.held",
        .error,
        "the clock differs from the database's by more than a minute: no request is decided until it is less",
        [.workerID, .leadMilliseconds]
    )
    package static let clockRight = LoggedEvent(
        "clock.right",
        .notice,
        "the clock is within 5 s of the database's",
        [.workerID, .leadMilliseconds]
    )
}

// MARK: - Configuration

extension LoggedEvent {
    package static let configurationVariableUnknown = LoggedEvent(
        "configuration.variable_unknown",
        .warning,
        "an environment variable is no key's and looks like one",
        [.variable, .nearest]
    )
}

extension LoggedEvent {
    package static let kafkaLibraryOld = LoggedEvent(
        "kafka.library_old",
        .warning,
        "SCRAM at Kafka 4 needs librdkafka 2.6.1 or newer: with this one the right password is refused",
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
        "policy refused, the one in force stays",
        [.fault, .policyVersion]
    )
    package static let policyVersionReused = LoggedEvent(
        "policy.version_reused",
        .warning,
        "the policy's rules changed and its version did not: events of both name the same version",
        [.policyVersion]
    )
    package static let policyRecorded = LoggedEvent(
        "policy.recorded",
        .info,
        "request let through and recorded by a rule",
        [.rule, .tenant, .requestID, .region, .traceID, .spanID]
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
        "secrets refused, those in force stay",
        [.fault]
    )
}

// MARK: - Requests

extension LoggedEvent {
    package static let decisionPublished = LoggedEvent(
        "decision.published",
        .debug,
        "a delivery event is published",
        decisionFields
    )
    package static let sendUnknown = LoggedEvent(
        "send.unknown",
        .warning,
        "nobody can know whether a message left",
        decisionFields
    )
    package static let sendCodeMismatch = LoggedEvent(
        "send.code_mismatch",
        .error,
        "a send's code is not the one that was hashed: it does not leave",
        [.verificationID, .sendID, .requestID, .codeKey, .hashKey, .traceID, .spanID]
    )
    package static let deadLetter = LoggedEvent(
        "dead_letter.published",
        .warning,
        "a record that cannot be used is put with the dead letters",
        [.reason, .topic, .partition, .offset],
        throttledBy: [.reason]
    )

    private static let decisionFields: [LogField] = [
        .verificationID, .requestID, .sendID, .tenant, .channel, .region, .status, .reason, .rule, .provider,
        .errorCode, .durationMilliseconds, .traceID, .spanID,
    ]
}

// MARK: - Providers

extension LoggedEvent {
    package static let providerAnswered = LoggedEvent(
        "provider.answered",
        .debug,
        "provider took a message",
        answerFields
    )
    package static let providerRefused = LoggedEvent(
        "provider.refused",
        .info,
        "provider did not take a message",
        answerFields,
        throttledBy: [.provider, .outcome, .errorCode]
    )
    package static let providerMisconfigured = LoggedEvent(
        "provider.misconfigured",
        .error,
        "provider refuses this account: an operator has to act",
        answerFields,
        throttledBy: [.provider, .errorCode]
    )
    package static let providerPaused = LoggedEvent(
        "provider.paused",
        .warning,
        "provider is passed over",
        [.workerID, .provider]
    )
    package static let providerResumed = LoggedEvent(
        "provider.resumed",
        .notice,
        "provider takes messages again",
        [.workerID, .provider]
    )
    package static let providerTurnsFailed = LoggedEvent(
        "provider.turns_failed",
        .warning,
        "no turns were had",
        [.error],
        throttledBy: []
    )
    package static let providerLogged = LoggedEvent(
        "provider.logged",
        .info,
        "message not sent: this provider only logs",
        [.provider, .recipient, .sendID, .traceID, .spanID]
    )

    private static let answerFields: [LogField] = [
        .provider, .outcome, .errorCode, .verificationID, .requestID, .sendID, .tenant, .region,
        .durationMilliseconds, .traceID, .spanID,
    ]
}

// MARK: - PostgreSQL

extension LoggedEvent {
    package static let postgresFailing = LoggedEvent(
        "postgres.failing",
        .error,
        "the database fails, trying again",
        [.stage, .error],
        throttledBy: [.stage, .error]
    )
    package static let postgresRecovered = LoggedEvent(
        "postgres.recovered",
        .notice,
        "the database answers again",
        [.stage],
        throttledBy: [.stage]
    )
    package static let heartbeatFailed = LoggedEvent(
        "heartbeat.failed",
        .warning,
        "the worker's state cannot be told",
        [.target, .error]
    )
    package static let postgresUnrecordable = LoggedEvent(
        "postgres.unrecordable",
        .error,
        "a record that the database cannot take becomes a dead letter",
        [.stage, .topic, .partition, .offset],
        throttledBy: [.stage]
    )
    package static let postgresSessionsEnded = LoggedEvent(
        "postgres.sessions_ended",
        .warning,
        "sessions of a frozen worker or a lost connection, which stood still in a transaction, are ended",
        [.sessions],
        throttledBy: []
    )
    package static let receiptsWaiting = LoggedEvent(
        "receipts.waiting",
        .warning,
        "receipts wait for rows that another transaction locks",
        [.records],
        throttledBy: []
    )
    package static let intakeWaiting = LoggedEvent(
        "intake.waiting",
        .warning,
        "requests wait for rows that another transaction locks",
        [.records],
        throttledBy: []
    )
    package static let maintenanceOverdue = LoggedEvent(
        "maintenance.overdue",
        .warning,
        "days could not be made or dropped for over an hour: somebody's lock or snapshot is in the way",
        [.ageMilliseconds]
    )
    package static let recordGivenUp = LoggedEvent(
        "record.given_up",
        .error,
        "what became of a send could not be recorded",
        [.verificationID, .sendID, .requestID, .provider, .traceID, .spanID]
    )
    package static let dispatchMarkFailed = LoggedEvent(
        "dispatch.mark_failed",
        .warning,
        "claims could not be marked",
        [.sends],
        throttledBy: []
    )
    package static let sweepTakenOver = LoggedEvent(
        "sweep.taken_over",
        .info,
        "sends that were due are taken over",
        [.sends],
        throttledBy: []
    )
}

// MARK: - Kafka

extension LoggedEvent {
    package static let publishFailed = LoggedEvent(
        "publish.failed",
        .warning,
        "records were not taken by the broker",
        [.records, .error, .reason, .broker, .topic, .partition],
        throttledBy: []
    )
    package static let publishRefused = LoggedEvent(
        "publish.refused",
        .error,
        "a topic takes no records though brokers answer, trying again",
        [.topic, .partition, .reason, .error, .broker]
    )
    package static let publishRecovered = LoggedEvent(
        "publish.recovered",
        .notice,
        "a topic takes records again",
        [.topic]
    )

    /// The lines of one consumer.
    package struct Consumer: Sendable {
        package let assigned: LoggedEvent
        package let revoked: LoggedEvent
        package let lost: LoggedEvent
        package let topicMadeAnew: LoggedEvent
        package let groupShared: LoggedEvent
        package let cannotRead: LoggedEvent
        package let readsAgain: LoggedEvent
        package let unreachable: LoggedEvent
        package let recovered: LoggedEvent
        package let failed: LoggedEvent
        package let notAssigned: LoggedEvent
        package let commitFailed: LoggedEvent
        package let recordsLost: LoggedEvent
        package let producerTimes: LoggedEvent

        /// The requests' consumer.
        package static let requests = Consumer("kafka")

        /// The receipts' consumer.
        package static let receipts = Consumer("receipts")

        private init(_ area: String) {
            assigned = LoggedEvent("\(area).assigned", .info, "partitions assigned", [.partitions])
            revoked = LoggedEvent("\(area).revoked", .info, "partitions revoked", [.partitions])
            lost = LoggedEvent("\(area).lost", .warning, "partitions lost", [.partitions])
            topicMadeAnew = LoggedEvent(
                "\(area).topic_made_anew",
                .warning,
                "the topic was deleted and made anew: it is read from its first record on",
                [.topic]
            )
            groupShared = LoggedEvent(
                "\(area).group_shared",
                .error,
                "other programs use this consumer group: set kafka.groupId to a name that no other program has",
                [.group, .reason]
            )
            cannotRead = LoggedEvent(
                "\(area).cannot_read",
                .error,
                "a topic cannot be read though brokers answer, trying again",
                [.topic, .partition, .reason, .error, .broker]
            )
            readsAgain = LoggedEvent("\(area).reads_again", .notice, "a topic can be read again", [.topic])
            unreachable = LoggedEvent(
                "\(area).unreachable",
                .error,
                "no broker can be reached, trying again",
                [.reason, .broker, .error]
            )
            recovered = LoggedEvent("\(area).recovered", .notice, "a broker answers again")
            failed = LoggedEvent(
                "\(area).error",
                .warning,
                "the consumer reports an error",
                [.error, .reason, .broker, .topic, .partition],
                throttledBy: [.error, .reason]
            )
            notAssigned = LoggedEvent(
                "\(area).not_assigned",
                .info,
                "offsets were not committed: partitions have moved"
            )
            commitFailed = LoggedEvent(
                "\(area).commit_failed",
                .warning,
                "offsets were not committed, the next commit covers them",
                [.error, .reason, .broker, .topic, .partition],
                throttledBy: [.error]
            )
            recordsLost = LoggedEvent(
                "\(area).records_lost",
                .error,
                "records expired before they were read",
                [.topic, .partition, .offset, .lastOffset, .records]
            )
            producerTimes = LoggedEvent(
                "\(area).producer_times",
                .warning,
                "records carry the times of their producers' clocks: set message.timestamp.type=LogAppendTime",
                [.topic]
            )
        }

        package var all: [LoggedEvent] {
            [
                assigned, revoked, lost, topicMadeAnew, groupShared, cannotRead, readsAgain, unreachable, recovered,
                failed, notAssigned, commitFailed, recordsLost,
                producerTimes,
            ]
        }
    }
}

// MARK: - The log itself

extension LoggedEvent {
    package static let logSuppressed = LoggedEvent(
        "log.suppressed",
        .warning,
        "lines that came too fast were not written",
        [.logEvent, .suppressed, .provider, .outcome, .errorCode, .error, .stage, .reason]
    )
    package static let logDropped = LoggedEvent(
        "log.dropped",
        .warning,
        "lines could not be written: nobody took them",
        [.dropped]
    )

    /// A line of a library, in its own words and without its own fields, of which nobody knows what they hold.
    package static let libraryMessage = LoggedEvent("library.message", .warning, "a library's own words")
}

// MARK: - All of them

extension LoggedEvent {
    package static let all: [LoggedEvent] =
        [
            workerStarted, workerStopping, workerStopped, workerEnded, workerDrainTimeout, workerFailed,
            workerStalled, workerStats,
            clockOff, clockHeld, clockRight,
            configurationVariableUnknown, kafkaLibraryOld,
            policyLoaded, policyReloaded, policyRefused, policyVersionReused, policyRecorded,
            secretsReloaded, secretsRefused,
            decisionPublished, sendUnknown, sendCodeMismatch, deadLetter,
            providerAnswered, providerRefused, providerMisconfigured, providerPaused, providerResumed,
            providerTurnsFailed, providerLogged,
            postgresFailing, postgresRecovered, heartbeatFailed,
            postgresUnrecordable, postgresSessionsEnded, receiptsWaiting, intakeWaiting,
            maintenanceOverdue, recordGivenUp, dispatchMarkFailed, sweepTakenOver,
            publishFailed, publishRefused, publishRecovered,
        ] + Consumer.requests.all + Consumer.receipts.all + [logSuppressed, logDropped, libraryMessage]

    /// All of them by name.
    package static let named = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}
