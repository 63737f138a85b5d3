// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import ServiceLifecycle
import Verification

/// A service of the pipeline: processes a queue in batches until its turn to stop.
///
/// The services that fill its queue stop before it. So at its turn the queue holds the last elements, and the stage
/// ends when they and the tasks that it has added are done.
struct Stage<Element: Sendable>: Service {
    /// Handles a batch; longer work may continue in the group while the next batch is handled.
    typealias Work = @Sendable ([Element], inout DiscardingTaskGroup) async -> Void

    /// The stage that is at work during a batch; nil if `work` counts its progress itself.
    private let name: Progress.Stage?
    private let progress: Progress
    private let batches: BatchQueue<Element>.Batches

    /// Returns, at the stage's turn to stop, once the last element is in the queue.
    private let last: @Sendable () async -> Void
    private let work: Work

    /// Makes a stage whose work may add tasks to its group.
    init(
        _ name: Progress.Stage? = nil,
        in context: StageContext,
        from batches: BatchQueue<Element>.Batches,
        last: @escaping @Sendable () async -> Void = {},
        adding work: @escaping Work
    ) {
        self.name = name
        progress = context.progress
        self.batches = batches
        self.last = last
        self.work = work
    }

    /// Makes a stage that handles one batch after the other.
    init(
        _ name: Progress.Stage? = nil,
        in context: StageContext,
        from batches: BatchQueue<Element>.Batches,
        last: @escaping @Sendable () async -> Void = {},
        _ work: @escaping @Sendable ([Element]) async -> Void
    ) {
        self.init(name, in: context, from: batches, last: last) { batch, _ in await work(batch) }
    }

    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                await waitForShutdown()
                await last()
                batches.queue.finish()
            }
            for await batch in batches {
                guard let name else {
                    await work(batch, &group)
                    continue
                }
                await progress.during(name) { await work(batch, &group) }
            }
        }
    }
}

/// Repeats work at an interval until its turn to stop, for changes that send no signal.
struct Poll: Service {
    let interval: Duration
    let work: @Sendable () async -> Void

    init(every interval: Duration, _ work: @escaping @Sendable () async -> Void) {
        self.interval = interval
        self.work = work
    }

    func run() async {
        await Task.repeatUntilStopping(every: interval) { await work() }
    }
}

/// Steps that run and stop together.
struct Together: Service {
    let steps: [any Service]

    init(_ steps: any Service...) {
        self.steps = steps
    }

    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            for step in steps { group.addTask { try await step.run() } }
        }
    }
}

/// The objects that every stage uses, and the queues between them.
final class StageContext: Sendable {
    let settings: WorkerSettings

    /// The worker's clock: for ids, statistics and dead letters.
    ///
    /// Decisions about requests use the database's clock.
    let now: @Sendable () -> Timestamp

    /// Called at each step of the worker.
    let observe: Step.Observer
    let ledger: any Ledger
    let retry: LedgerRetry
    let progress = Progress()
    let statistics: Statistics
    let logger: Logger
    let inFlight: InFlight

    let claims = BatchQueue<Dispatch.Claims>()
    let ready = BatchQueue<Dispatch.Ready>()
    let results = BatchQueue<SendResult>()

    /// The records to publish.
    ///
    /// Beyond its limit, `CatchUp` reads records from the table, where they are stored anyway.
    let outbox: BatchQueue<OutboxRecord>

    init(
        ledger: any Ledger,
        settings: WorkerSettings,
        now: @escaping @Sendable () -> Timestamp = { .now },
        observe: @escaping Step.Observer = { _ in },
        statistics: Statistics,
        logger: Logger
    ) {
        self.settings = settings
        self.now = now
        self.observe = observe
        self.ledger = ledger
        self.statistics = statistics
        self.logger = logger
        retry = LedgerRetry(progress: progress, statistics: statistics, logger: logger)
        inFlight = InFlight(limit: settings.maxInFlight)
        outbox = BatchQueue(limit: 40 * settings.batchSize) { $0.weight }
    }
}

// MARK: - Stopping

/// Waits until the service group shuts this service down, or its task is cancelled.
///
/// To return earlier would count as a failure of the service.
func waitForShutdown() async {
    do {
        try await gracefulShutdown()
    } catch {
        // Cancelled: end now, without a graceful shutdown.
    }
}

extension Task where Success == Never, Failure == Never {
    static var isStopping: Bool { isShuttingDownGracefully || isCancelled }

    /// Repeats work until the service stops, with pauses of an interval.
    static func repeatUntilStopping(every interval: Duration, _ work: () async -> Void) async {
        while !isStopping {
            await work()
            await pause(until: .now + interval)
        }
    }

    /// Sleeps until a time, for work that becomes due without a signal; a shutdown ends the sleep.
    static func pause(until end: ContinuousClock.Instant) async {
        try? await cancelWhenGracefulShutdown { try await sleep(until: end, clock: .continuous) }
    }
}
