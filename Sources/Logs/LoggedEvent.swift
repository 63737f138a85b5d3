// SPDX-License-Identifier: Apache-2.0

package import Logging

/// A kind of line: its stable name, severity, message and possible fields.
///
/// Only the catalogue creates events, so that no call invents a name.
package struct LoggedEvent: Sendable {
    package let name: String
    package let level: Logger.Level

    /// The message, equal in every line: the fields carry what varies.
    package let message: String
    package let fields: [LogField]

    /// The fields whose values make lines similar.
    ///
    /// If similar lines come too fast, only the first are written, and then the number of the rest. Nil for an event
    /// without a throttle.
    package let throttledBy: [LogField]?

    /// The interval at which a worker repeats the line while a fault persists; nil for a line that is written once.
    ///
    /// An alert that counts such lines must look back further than the interval, so that it holds as long as the fault.
    package let interval: Duration?

    init(
        _ name: String,
        _ level: Logger.Level,
        _ message: String,
        _ fields: [LogField] = [],
        throttledBy: [LogField]? = nil,
        again interval: Duration? = nil
    ) {
        self.name = name
        self.level = level
        self.message = message
        self.fields = fields
        self.throttledBy = throttledBy
        self.interval = interval
    }
}

extension Logger {
    /// Writes a line; `fields` is evaluated only when its severity is enabled.
    package func log(_ event: LoggedEvent, _ fields: @autoclosure () -> [LogField: LogValue] = [:]) {
        guard event.level >= logLevel else { return }
        var metadata: Metadata = ["event": .string(event.name)]
        for (field, value) in fields() {
            assert(event.fields.contains(field), "\(event.name) has no field \(field.rawValue)")
            metadata[field.rawValue] = .stringConvertible(value)
        }
        log(level: event.level, .init(stringLiteral: event.message), metadata: metadata)
    }
}

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
            configurationVariableUnknown, postgresWithoutTLS, eventsSwitched, kafkaLibraryOld,
            policyLoaded, policyReloaded, policyRefused, policyVersionReused, policyRecorded,
            secretsReloaded, secretsRefused,
            decisionPublished, sendUnknown, sendCodeMismatch, deadLetter,
            providerAnswered, providerRefused, providerMisconfigured, providerPaused, routeDead, providerResumed,
            providerTurnsFailed, feedbackFailed, providerLogged,
            postgresFailing, postgresRecovered, heartbeatFailed,
            postgresUnrecordable, postgresSessionsEnded, receiptsWaiting, intakeWaiting,
            maintenanceOverdue, recordGivenUp, dispatchMarkFailed, sweepTakenOver,
            publishFailed, publishRefused, publishRecovered,
            brakeReader, brakeTripped, brakeHalfOpen, brakeEnded, brakeAsleep, brakeOverridden, brakeLaunchOver,
            conversionLow,
            routeShares, routeSilent, routeRecovered,
            budgetWarned, budgetReserved, budgetExhausted, budgetKept,
        ] + Consumer.requests.all + Consumer.receipts.all + [logSuppressed, logDropped, libraryMessage]

    package static let named = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
}
