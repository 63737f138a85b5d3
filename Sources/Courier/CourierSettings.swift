// SPDX-License-Identifier: Apache-2.0

import Logs
package import Verification

/// What the pipeline takes from the worker's configuration.
package struct CourierSettings: Sendable {
    package var decision: IntakeRules.Settings

    /// The fleet that the last byte of every id names.
    package var cell: UInt8

    /// Sends that one worker holds at most.
    package var maxInFlight: Int

    /// Records decided in one transaction at most.
    package var batchSize: Int

    /// How long a claim belongs to its worker; the ledger's lease.
    package var lease: Duration

    /// How long one call to a provider may take.
    package var callDeadline: Duration
    package var sweepInterval: Duration

    /// Whether a send whose answer was lost is handed over once more; the ledger's sweep must do the same.
    package var repeatsUnknown: Bool

    /// The worker's clock: for ids, statistics and dead letters, and for nothing that is decided of a request.
    package var now: @Sendable () -> Timestamp

    /// Told of each step that a worker takes.
    package var observe: Step.Observer

    package init(
        decision: IntakeRules.Settings,
        cell: UInt8 = 0,
        maxInFlight: Int = 1024,
        batchSize: Int = 500,
        lease: Duration = .seconds(30),
        callDeadline: Duration = .seconds(10),
        sweepInterval: Duration = .milliseconds(500),
        repeatsUnknown: Bool = false,
        now: @escaping @Sendable () -> Timestamp = { .now },
        observe: @escaping Step.Observer = { _ in }
    ) {
        self.decision = decision
        self.cell = cell
        self.maxInFlight = maxInFlight
        self.batchSize = batchSize
        self.lease = lease
        self.callDeadline = callDeadline
        self.sweepInterval = sweepInterval
        self.repeatsUnknown = repeatsUnknown
        self.now = now
        self.observe = observe
    }
}
