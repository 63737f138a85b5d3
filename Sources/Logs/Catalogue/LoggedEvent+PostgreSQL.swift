// SPDX-License-Identifier: Apache-2.0

import Logging

extension LoggedEvent {
    package static let postgresFailing = LoggedEvent(
        "postgres.failing",
        .error,
        "the database fails: retrying",
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
        "cannot report the worker's health: see target",
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
        "ended sessions stalled in a transaction: a worker froze or lost its connection",
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
        "daily partitions over an hour overdue: another session's lock or snapshot blocks them",
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
        "could not mark sends as dispatching: released for a later claim",
        [.sends],
        throttledBy: []
    )
    package static let sweepTakenOver = LoggedEvent(
        "sweep.taken_over",
        .info,
        "took over overdue sends",
        [.sends],
        throttledBy: []
    )
}
