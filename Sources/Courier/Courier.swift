// SPDX-License-Identifier: Apache-2.0

package import Logging
package import ServiceLifecycle
package import Verification

/// The pipeline: how a request becomes a message and an event.
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
/// | `Sweep`    | what is overdue      | takes it over from dead workers, or ends it          | claimed sends, events |
/// | `Receipts` | what providers say   | settles sends that were handed over                  | events                |
///
/// Stages hand over in memory for speed. What they hand over is in PostgreSQL already, where another worker finds it,
/// but for a provider's answer on its way to `Record`: with its worker that is lost, and the send becomes `unknown`, or
/// is repeated once where the operator prefers that.
///
/// To follow one request, read these in order:
///
/// 1. `Screener.candidate(for:)` reads its record and applies the rules that need no memory.
/// 2. `IntakeRules.decide` applies the others, and makes a `ClaimedSend` or the event that answers it.
/// 3. `SendRouter.way(of:)` says which providers to ask, and when.
/// 4. `Handover.outcome(of:)` asks them as its `AttemptPlan` says: `ClaimedSend.content` is the message,
///    `MessageProvider.send` the call.
/// 5. `OutcomeDecision.settle` changes the verification by what became of the send.
/// 6. `DeliveryEvent.record` makes the record that tells it, for the outbox.
package struct Courier: Sendable {
    /// The services in the order in which they depend on each other; they stop in the reverse order.
    ///
    /// So a worker stops sweeping and reading first, leaves its group, finishes the sends it holds, writes what became of
    /// them, publishes that, and closes the producer last.
    package let services: [any Service]

    /// What its lines call this worker.
    let workerID: String
    private let context: StageContext
    private let desk: ProviderDesk
    private let unacknowledged: Unacknowledged

    /// What a worker is made of.
    ///
    /// `executor` is where calls to providers run best; nil for anywhere.
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
        // Far below what the producer's own queue holds, so that what goes out always finds room in it.
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

    /// The stages' progress.
    package var progress: Progress { context.progress }

    /// Whether the database answers; asked of it at every sweep at the latest.
    package var isDatabaseAnswering: Bool { context.retry.isAnswered }

    /// Holds new work back, or no longer.
    ///
    /// Meanwhile no batch is decided and no send claimed. What is in flight goes on, and so do results, receipts and events.
    package func hold(_ isHeld: Bool) { context.inFlight.close(isHeld) }

    /// Whether new work is held back.
    package var isHeld: Bool { context.inFlight.isClosed }

    /// What the worker holds at this moment, and how its providers are.
    package var load: Load {
        Load(
            inFlight: context.inFlight.count,
            maxInFlight: context.inFlight.limit,
            providers: desk.states
        )
    }
}
