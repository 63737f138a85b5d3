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
/// The way of a request, by the functions to read:
///
/// 1. `Screener.candidate(for:)` reads its record and applies the rules that need no memory.
/// 2. `IntakeDecision.decide` applies the others, and makes a `ClaimedSend` or the event that answers it.
/// 3. `SendRouter.way(of:)` says which providers to ask, and when.
/// 4. `Handover.results(of:)` asks them: `ClaimedSend.content` is the message, `MessageProvider.send` the call.
/// 5. `OutcomeDecision.settle` changes the verification by what became of the send.
/// 6. `DeliveryEvent.record` makes the record that tells it, for the outbox.
package struct Courier: Sendable {
    private let intake: Intake
    private let dispatch: Dispatch
    private let record: Record
    private let publish: Publish
    private let sweep: Sweep
    private let receipts: Receipts
    private let desk: ProviderDesk
    /// What its lines call this worker.
    let workerID: String
    /// How the stages get on.
    package let progress: Progress
    private let retry: LedgerRetry
    private let inFlight: InFlight
    private let outbox: BatchQueue<OutboxRecord>
    private let unacknowledged: Unacknowledged
    private let sinkService: any Service
    private let sourceService: any Service
    private let receiptService: any Service

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
        let sends = BatchQueue<Dispatch.Claims>()
        let results = BatchQueue<SendResult>()
        // Beyond this `Publish` takes records from the table, where they are anyway.
        let outbox = BatchQueue<OutboxRecord>(limit: 40 * settings.batchSize) { $0.weight }
        // Far below what the producer's own queue holds, so that what goes out always finds room in it.
        let unacknowledged = Unacknowledged(limit: 10_000)
        let desk = ProviderDesk(
            parts.providers,
            limits: parts.limits,
            rates: parts.rates,
            callDeadline: settings.callDeadline,
            workerID: workerID,
            logger: logger
        )
        self.desk = desk
        self.workerID = workerID
        let inFlight = InFlight(limit: settings.maxInFlight)
        let progress = Progress()
        let retry = LedgerRetry(lease: settings.lease, progress: progress, statistics: statistics, logger: logger)
        intake = Intake(
            source: parts.source,
            ledger: parts.ledger,
            policies: parts.policies,
            keys: parts.keys,
            numbers: parts.numbers,
            settings: settings,
            sends: sends,
            outbox: outbox,
            inFlight: inFlight,
            retry: retry,
            progress: progress,
            statistics: statistics,
            logger: logger
        )
        dispatch = Dispatch(
            claims: sends,
            results: results,
            ledger: parts.ledger,
            desk: desk,
            router: SendRouter(desk: desk, policies: parts.policies),
            handover: Handover(
                desk: desk,
                policies: parts.policies,
                settings: settings,
                statistics: statistics,
                logger: logger
            ),
            executor: parts.executor,
            settings: settings,
            inFlight: inFlight,
            retry: retry,
            progress: progress,
            logger: logger
        )
        record = Record(
            results: results,
            outbox: outbox,
            ledger: parts.ledger,
            settings: settings,
            inFlight: inFlight,
            retry: retry,
            progress: progress,
            statistics: statistics,
            logger: logger
        )
        publish = Publish(
            outbox: outbox,
            sink: parts.sink,
            ledger: parts.ledger,
            settings: settings,
            inFlight: inFlight,
            unacknowledged: unacknowledged,
            retry: retry,
            progress: progress,
            statistics: statistics,
            logger: logger
        )
        sweep = Sweep(
            takeover: Takeover(
                ledger: parts.ledger,
                sends: sends,
                outbox: outbox,
                desk: desk,
                settings: settings,
                inFlight: inFlight,
                retry: retry,
                logger: logger
            ),
            ledger: parts.ledger,
            outbox: outbox,
            settings: settings,
            retry: retry,
            progress: progress
        )
        receipts = Receipts(
            source: parts.receipts,
            ledger: parts.ledger,
            secrets: parts.receiptSecrets,
            desk: desk,
            settings: settings,
            outbox: outbox,
            retry: retry,
            progress: progress
        )
        self.progress = progress
        self.retry = retry
        self.inFlight = inFlight
        self.outbox = outbox
        self.unacknowledged = unacknowledged
        sinkService = parts.sink
        sourceService = parts.source
        receiptService = parts.receipts
    }

    /// Whether the database answers; asked of it at every sweep at the latest.
    package var isDatabaseAnswering: Bool { retry.isAnswered }

    /// Holds new work back, or no longer.
    ///
    /// Meanwhile no batch is decided and no send claimed. What is in flight goes on, and so do results, receipts and events.
    package func hold(_ isHeld: Bool) { inFlight.close(isHeld) }

    /// Whether new work is held back.
    package var isHeld: Bool { inFlight.isClosed }

    /// What the worker holds at this moment, and how its providers are.
    package var load: Load {
        Load(
            inFlight: inFlight.count,
            maxInFlight: inFlight.limit,
            unpublished: outbox.count + unacknowledged.count,
            providers: desk.states
        )
    }

    /// The services in the order in which they depend on each other; they stop in the reverse order.
    ///
    /// So a worker stops sweeping and reading first, leaves its group, finishes the sends it holds, writes what became of
    /// them, publishes that, and closes the producer last.
    package var services: [any Service] {
        [sinkService, publish, record, desk, dispatch, receiptService, receipts, sourceService, intake, sweep]
    }
}
