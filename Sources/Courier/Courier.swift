// SPDX-License-Identifier: Apache-2.0

package import Formats
package import Logging
package import ServiceLifecycle
package import Verification

/// The pipeline from a request to a message and an event.
///
///     ConsumerRecord → Request → Decision → Send → Outcome → Event
///
/// | stage      | takes                | does                                                 | leaves                |
/// |------------|----------------------|------------------------------------------------------|-----------------------|
/// | `Intake`   | a batch of records   | reads, decides and records them in one transaction,  | claimed sends, events |
/// |            |                      | and commits their offsets soon after                 |                       |
/// | `Dispatch` | claimed sends        | marks them, then calls providers                     | results               |
/// | `Record`   | results              | settles many in one transaction                      | events                |
/// | `Publish`  | events, dead letters | produces them, then deletes them from the outbox     |                       |
/// | `Sweep`    | overdue rows         | takes them over from dead workers, or ends them      | claimed sends, events |
/// | `Receipts` | receipts             | settles sends that a provider accepted               | events                |
///
/// Stages pass values on in memory for speed. The same data is in PostgreSQL already, where another worker finds it.
/// The exception is a provider's answer on its way to `Record`: it is lost with its worker, and the send becomes
/// `unknown`, or is repeated once if the operator prefers that.
///
/// To follow one request, read these in order:
///
/// 1. `Screener.candidate(for:)` reads its record and applies the stateless rules.
/// 2. `IntakeRules.decide` applies the others, and makes a `ClaimedSend` or the event that answers it.
/// 3. `SendRouter.way(of:)` picks the providers to call, and the time.
/// 4. `Handover.outcome(of:)` calls them as its `AttemptPlan` demands: `ClaimedSend.content` is the message,
///    `MessageProvider.send` the call.
/// 5. `OutcomeDecision.settle` updates the verification with the outcome of the send.
/// 6. `DeliveryEvent.record` makes the event's record for the outbox.
package struct Courier: Sendable {
    /// The services in the order in which they depend on each other; they stop in the reverse order.
    ///
    /// At a shutdown a worker stops sweeping and reading first, leaves its consumer group, finishes its sends in
    /// flight, writes their outcomes, publishes the events, and closes the producer last.
    package let services: [any Service]

    /// The worker's name in log lines.
    let workerID: String
    private let context: StageContext
    private let desk: ProviderDesk
    private let unacknowledged: Unacknowledged

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
        }
    }

    package init(
        parts: Parts,
        settings: CourierSettings,
        statistics: Statistics = Statistics(),
        workerID: String,
        logger: Logger
    ) {
        let context = StageContext(ledger: parts.ledger, settings: settings, statistics: statistics, logger: logger)
        let policies = parts.policies
        let claims = BatchQueue<Dispatch.Claims>()
        let results = BatchQueue<SendResult>()
        let desk = ProviderDesk(
            parts.providers,
            limits: parts.limits,
            rates: parts.rates,
            callDeadline: settings.callDeadline,
            workerID: workerID,
            logger: logger
        )
        // Far below the limit of the producer's own queue, which therefore never fills up.
        let unacknowledged = Unacknowledged(limit: 10_000)

        let intake = Intake(
            context: context,
            source: parts.source,
            screen: RecordScreen(policies: policies, keys: parts.keys, numbers: parts.numbers, settings: settings),
            claims: claims
        )
        let dispatch = Dispatch(
            context: context,
            claims: claims,
            results: results,
            router: SendRouter(desk: desk, policies: policies),
            handover: Handover(context: context, desk: desk, policies: policies),
            executor: parts.executor
        )
        let record = Record(context: context, results: results)
        let publish = Publish(context: context, sink: parts.sink, unacknowledged: unacknowledged)
        let sweep = Sweep(context: context, takeover: Takeover(context: context, claims: claims, desk: desk))
        let receipts = Receipts(context: context, source: parts.receipts, secrets: parts.receiptSecrets, desk: desk)

        services = [
            parts.sink, publish, record, desk, dispatch, parts.receipts, receipts, parts.source, intake, sweep,
        ]
        self.workerID = workerID
        self.context = context
        self.desk = desk
        self.unacknowledged = unacknowledged
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

    /// The number of sends in flight and the health of the providers, now.
    package var load: Load {
        Load(
            inFlight: context.inFlight.count,
            maxInFlight: context.inFlight.limit,
            providers: desk.states
        )
    }
}
