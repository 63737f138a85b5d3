// SPDX-License-Identifier: Apache-2.0

import Logging

extension LoggedEvent {
    package static let postgresFailing = LoggedEvent(
        "postgres.failing",
        .error,
        "the database fails: trying again",
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
        "cannot write or send the worker's health state: see the field target",
        [.target, .error]
    )
    package static let postgresUnrecordable = LoggedEvent(
        "postgres.unrecordable",
        .error,
        "the database refuses a record's values: it becomes a dead letter",
        [.stage, .topic, .partition, .offset],
        throttledBy: [.stage]
    )
    package static let postgresSessionsEnded = LoggedEvent(
        "postgres.sessions_ended",
        .warning,
        "ended database sessions that stood still within a transaction: a frozen worker or a lost connection held their locks",
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
        "daily partitions could not be created or dropped for over an hour: another session's lock or snapshot blocks them",
        [.ageMilliseconds],
        again: .seconds(600)
    )
    package static let recordGivenUp = LoggedEvent(
        "record.given_up",
        .error,
        "a send's outcome could not be recorded",
        [.verificationID, .sendID, .requestID, .provider, .traceID, .spanID]
    )
    package static let dispatchMarkFailed = LoggedEvent(
        "dispatch.mark_failed",
        .warning,
        "could not mark sends before their provider is called: they are released, and claimed again later",
        [.sends],
        throttledBy: []
    )
    package static let sweepTakenOver = LoggedEvent(
        "sweep.taken_over",
        .info,
        "took over sends that were due",
        [.sends],
        throttledBy: []
    )
}
