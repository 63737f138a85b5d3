// SPDX-License-Identifier: Apache-2.0

import Logging

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
        [.ageMilliseconds],
        again: .seconds(600)
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
