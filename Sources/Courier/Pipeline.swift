// SPDX-License-Identifier: Apache-2.0

package import Formats
package import Logging
import Logs
package import ServiceLifecycle
package import Verification

/// The pipeline from a request to a message and an event.
///
///     ConsumerRecord → Request → Decision → Send → Outcome → Event
///
/// Stages pass values on in memory for speed. The same data is in PostgreSQL already, where another worker finds it.
/// The exception is a provider's answer on its way to `Record`: it is lost with its worker, and the send becomes
/// `unknown`, or is repeated once if the operator prefers that.
package struct Pipeline: Sendable {
    /// The services in the order in which they depend on each other; they stop in the reverse order.
    package let services: [any Service]

    private let context: StageContext
    private let desk: ProviderDesk
    private let brake: BrakeSource

    /// Returns every service, in the order in which a request passes them and in which they stop.
    ///
    /// A stopping worker ends its sweeps and its reading first, leaves its consumer groups, finishes its sends in flight,
    /// writes their outcomes, publishes the events, and closes the producer last.
    private static func steps(_ parts: Parts, _ context: StageContext, _ desk: ProviderDesk) -> [any Service] {
        let (settings, size, gather) = (context.settings, context.settings.batchSize, context.inFlight.gathering)
        let budgets = BudgetWallet(ledger: parts.budgets, context: context)
        let requests = OffsetCommits(source: parts.source) { context.observe(.intakeCommitted) }
        let screen = RecordScreen(parts, context)
        let intake = Intake(context: context, commits: requests, screen: screen, brake: parts.brake, budgets: budgets)
        let reports = OffsetCommits(source: parts.receipts)
        let receipts = Receipts(context: context, commits: reports, secrets: parts.receiptSecrets, desk: desk)
        let dispatch = Dispatch(
            context: context,
            desk: desk,
            policies: parts.policies,
            shares: parts.shares,
            executor: parts.executor
        )
        let record = Record(context: context, budgets: budgets)
        let publish = Publish(context: context, sink: parts.sink)
        return [
            Sweep(context: context, desk: desk),
            // ConsumerRecord → Request → Decision, with claimed sends
            Together(
                intake,
                Poll(every: .milliseconds(500)) { await intake.retryWaiting() },
                Poll(every: .seconds(10)) { await intake.updateShare() }
            ),
            Stage(.commit, in: context, from: requests.batches, requests.commit),
            parts.source,
            Together(receipts, Poll(every: .milliseconds(500)) { await receipts.retryWaiting() }),
            Stage(.commit, in: context, from: reports.batches, reports.commit),
            parts.receipts,
            // Send → Outcome
            Stage(.dispatch, in: context, from: context.claims.batches(of: .max), adding: dispatch.route),
            Stage(.dispatch, in: context, from: context.ready.batches(of: size), adding: dispatch.markAndCall),
            desk,
            // Outcome → Event
            Stage(.record, in: context, from: context.results.batches(of: size, after: gather(5)), record.write),
            Stage(.record, in: context, from: record.locked.batches(of: size), record.retry),
            budgets,
            // Event → broker → row deleted
            Together(CatchUp(publish), Poll(every: settings.sweepInterval, publish.tick)),
            Stage(in: context, from: context.outbox.batches(of: 2 * size, after: gather(10)), publish.produce),
            Stage(in: context, from: publish.answers.batches(of: 2 * size), last: publish.allAnswered, publish.settle),
            Stage(in: context, from: publish.endings.batches(of: 2 * size, after: gather(10)), publish.forget),
            parts.sink,
        ]
    }

    /// The parts from which a worker is assembled.
    ///
    /// `executor` is the preferred executor of calls to providers; nil for any.
    package struct Parts: Sendable {
        let source: any RecordSource & Service
        let receipts: any RecordSource & Service
        let sink: any RecordSink & Service
        let ledger: any Ledger
        let providers: [String: any MessageProvider]
        let limits: [String: RateLimit]
        let executor: (any TaskExecutor)?
        let rates: any ProviderRates
        let numbers: any NumberDirectory
        let keys: KeySource
        let policies: PolicySource
        let brake: BrakeSource
        let shares: RouteShareSource
        let budgets: (any BudgetLedger)?
        let receiptSecrets: InForce<ReceiptSecrets>

        package init(
            source: any RecordSource & Service,
            receipts: any RecordSource & Service,
            sink: any RecordSink & Service,
            ledger: any Ledger,
            providers: [any MessageProvider],
            limits: [String: RateLimit] = [:],
            executor: (any TaskExecutor)? = nil,
            rates: any ProviderRates,
            numbers: any NumberDirectory,
            keys: KeySource,
            policies: PolicySource,
            brake: BrakeSource = BrakeSource(),
            shares: RouteShareSource = RouteShareSource(RouteShares()),
            budgets: (any BudgetLedger)? = nil,
            receiptSecrets: InForce<ReceiptSecrets> = InForce(ReceiptSecrets())
        ) {
            self.source = source
            self.receipts = receipts
            self.receiptSecrets = receiptSecrets
            self.sink = sink
            self.ledger = ledger
            self.providers = Dictionary(providers.map { ($0.name, $0) }) { first, _ in first }
            self.limits = limits
            self.executor = executor
            self.rates = rates
            self.numbers = numbers
            self.keys = keys
            self.policies = policies
            self.brake = brake
            self.shares = shares
            self.budgets = budgets
        }
    }

    package init(
        parts: Parts,
        settings: WorkerSettings,
        now: @escaping @Sendable () -> Timestamp = { .now },
        observe: @escaping Step.Observer = { _ in },
        statistics: Statistics = Statistics(),
        logger: Logger
    ) {
        context = StageContext(
            ledger: parts.ledger,
            settings: settings,
            now: now,
            observe: observe,
            statistics: statistics,
            logger: logger
        )
        desk = ProviderDesk(
            parts.providers,
            limits: parts.limits,
            rates: parts.rates,
            callDeadline: settings.callDeadline,
            policies: parts.policies,
            logger: logger
        )
        brake = parts.brake
        services = Self.steps(parts, context, desk).reversed()
    }

    package var progress: Progress { context.progress }

    /// False while a database operation fails; every sweep updates it.
    package var isDatabaseAnswering: Bool { context.retry.isAnswered }

    /// Holds new work back, or ends the hold.
    ///
    /// During a hold no batch is decided and no send is claimed. Sends in flight, results, receipts and events
    /// continue.
    package func hold(_ isHeld: Bool) { context.inFlight.close(isHeld) }

    package var isHeld: Bool { context.inFlight.isClosed }

    /// The routes on which no provider accepts messages.
    package var deadRoutes: DeadRoutes { desk.deadRoutes }

    /// The number of sends in flight and the health of the providers, now.
    package var load: Load {
        let board = brake.current
        return Load(
            inFlight: context.inFlight.count,
            maxInFlight: context.inFlight.limit,
            providers: desk.states,
            deadRoutes: deadRoutes.count,
            blockedScopes: board.count(of: .blocked),
            halfOpenScopes: board.count(of: .halfOpen),
            readerLag: brake.readerLag
        )
    }
}
