// SPDX-License-Identifier: Apache-2.0

package import Formats
import Logs
package import Verification

/// The pipeline's part of the worker's configuration.
package struct CourierSettings: Sendable {
    package var decision: IntakeRules.Settings

    /// The fleet's number, which is the last byte of every id.
    package var cell: UInt8

    /// Maximum of sends in flight in one worker.
    package var maxInFlight: Int

    /// Maximum of records decided in one transaction.
    package var batchSize: Int

    /// The ledger's lease: the time for which a claim belongs to its worker.
    package var lease: Duration

    /// The deadline of one call to a provider.
    package var callDeadline: Duration
    package var sweepInterval: Duration

    /// True when a send whose answer was lost is sent once more; must equal the ledger's setting for its sweep.
    package var repeatsUnknown: Bool

    /// The worker's clock: for ids, statistics and dead letters.
    ///
    /// Decisions about requests use the database's clock.
    package var now: @Sendable () -> Timestamp

    /// Called at each step of the worker.
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
