// SPDX-License-Identifier: Apache-2.0

/// The rule for a send whose outcome is unknown.
package enum UnknownOutcomeRule: String, Sendable, CaseIterable {
    /// The send is not repeated.
    case hold

    /// The send gets one more attempt with the same code: at-least-once delivery.
    case resendOnce = "resend_once"
}

/// The limits and times of one worker, for all its parts.
package struct WorkerSettings: Sendable, Equatable {
    /// The cell, one of the independent fleets: the last byte of every id that the worker makes.
    package var cell: UInt8 = 0

    /// The maximum number of sends that one worker has claimed.
    package var maxInFlight = 1024

    /// The maximum number of records in one transaction, and of rows in one sweep.
    package var batchSize = 500

    /// The age from which a request is answered with `expired_unsent`.
    package var maxRequestAge = Duration.seconds(300)
    package var unknownOutcome = UnknownOutcomeRule.hold

    /// The lease of a claim or an outbox row, by the database's clock; after it another worker may take it over.
    package var lease = Duration.seconds(30)

    /// The deadline of one call to a provider, from the connection to the answer's last byte.
    package var callDeadline = Duration.seconds(10)

    /// The time that a receipt waits for its send.
    package var receiptGrace = Duration.seconds(3600)

    /// The time for which rows are kept after the end of their day.
    package var retention = Duration.seconds(24 * 3600)

    /// True if the verifier's function writes events of approved and locked verifications.
    package var publishesApproved = false

    /// The time that a worker has to finish its sends after a signal to stop.
    package var drainTimeout = Duration.seconds(25)

    /// The file for the state of a running worker, read by `code-courier health`; nil for none.
    ///
    /// Its folder must belong to the worker alone and is best in memory: the file is replaced every second.
    package var healthPath: String?

    // These have no configuration key: all workers use the same values.

    /// `ce_source` of the events.
    package var source = "/code-courier"
    package var sweepInterval = Duration.milliseconds(500)

    /// The maximum size of the outbox records in one sweep, in bytes.
    package var sweepBytes: Int64 = 16_777_216

    package init() {}

    /// True when a send whose answer was lost is sent once more.
    package var repeatsUnknown: Bool { unknownOutcome == .resendOnce }
}
