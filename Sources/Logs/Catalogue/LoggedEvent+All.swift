// SPDX-License-Identifier: Apache-2.0

extension LoggedEvent {
    /// All events that a worker logs.
    ///
    /// A name in this list is published: it keeps its meaning, and fields are only added. `LogCatalogue.version` is
    /// raised with every change.
    package static let all: [LoggedEvent] =
        [
            workerStarted, workerStopping, workerStopped, workerEnded, workerDrainTimeout, workerFailed,
            workerStalled, workerStats,
            clockOff, clockHeld, clockRight,
            configurationVariableUnknown, postgresWithoutTLS, kafkaLibraryOld,
            policyLoaded, policyReloaded, policyRefused, policyVersionReused, policyRecorded,
            secretsReloaded, secretsRefused,
            decisionPublished, sendUnknown, sendCodeMismatch, deadLetter,
            providerAnswered, providerRefused, providerMisconfigured, providerPaused, routeDead, providerResumed,
            providerTurnsFailed, providerLogged,
            postgresFailing, postgresRecovered, heartbeatFailed,
            postgresUnrecordable, postgresSessionsEnded, receiptsWaiting, intakeWaiting,
            maintenanceOverdue, recordGivenUp, dispatchMarkFailed, sweepTakenOver,
            publishFailed, publishRefused, publishRecovered,
            brakeReader, brakeTripped, brakeHalfOpen, brakeEnded, brakeAsleep, conversionLow,
        ] + Consumer.requests.all + Consumer.receipts.all + [logSuppressed, logDropped, libraryMessage]

    package static let named = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}
