// SPDX-License-Identifier: Apache-2.0

import Courier
import Formats
import Logging
import ServiceLifecycle
import TestSupport
import TestTools
import Testing
import Verification

/// A pipeline with in-memory Kafka, ledger and providers.
struct MemoryWorker: Sendable {
    let journal: Journal
    let source: MemorySource
    let receipts: MemorySource
    let sink: MemorySink
    let ledger: FailingLedger
    let rates = MemoryRates()
    let policies: PolicySource
    let brake = BrakeSource()
    let log: LogRecord
    let pipeline: Pipeline
    private let group: ServiceGroup

    /// Runs a pipeline during the body, and stops it afterwards.
    ///
    /// The route has the providers in their order; without any, a single provider accepts every message. With
    /// `isReporting` the worker logs its statistics.
    static func with(
        _ providers: [MemoryProvider] = [],
        journal: Journal = Journal(),
        settings: WorkerSettings = .test,
        limits: [String: RateLimit] = [:],
        messages: MessagePolicy = MessagePolicy(),
        onOptOut: OptOutRule = .stop,
        budgets: (any BudgetLedger)? = nil,
        log: LogRecord = LogRecord(),
        statistics: Statistics = Statistics(),
        isReporting: Bool = false,
        _ body: (MemoryWorker) async throws -> Void
    ) async throws {
        let providers = providers.isEmpty ? [MemoryProvider(journal: journal)] : providers
        let worker = MemoryWorker(
            providers,
            journal,
            settings,
            limits,
            messages,
            onOptOut,
            budgets,
            log,
            statistics,
            isReporting
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await worker.group.run() }
            try await doing {
                do {
                    try await body(worker)
                } catch {
                    worker.letGo()
                    throw error
                }
            } afterwards: {
                await worker.stop()
                try await group.waitForAll()
            }
        }
    }

    private init(
        _ providers: [MemoryProvider],
        _ journal: Journal,
        _ settings: WorkerSettings,
        _ limits: [String: RateLimit],
        _ messages: MessagePolicy,
        _ onOptOut: OptOutRule,
        _ budgets: (any BudgetLedger)?,
        _ log: LogRecord,
        _ statistics: Statistics,
        _ isReporting: Bool
    ) {
        self.journal = journal
        self.log = log
        source = MemorySource(journal: journal)
        receipts = MemorySource(journal: journal)
        sink = MemorySink(journal: journal)
        ledger = FailingLedger(journal: journal)
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let policy = Policy.test { tenant in
            func route(_ channel: Channel) -> Route { .ordered(providers.filter { $0.channel == channel }.map(\.name)) }
            tenant.routes = Routes(
                fallback: route(.sms),
                email: route(.email),
                push: route(.apns),
                onOptOut: onOptOut
            )
            tenant.messages = messages
        }
        policies = PolicySource(policy)
        pipeline = Pipeline(
            parts: Pipeline.Parts(
                source: source,
                receipts: receipts,
                sink: sink,
                ledger: ledger,
                providers: providers,
                limits: limits,
                rates: rates,
                numbers: FixedNumbers(),
                keys: KeySource(.test),
                policies: policies,
                brake: brake,
                budgets: budgets
            ),
            settings: settings,
            statistics: statistics,
            logger: log.logger
        )
        let report = StatisticsReport(
            statistics,
            of: pipeline,
            gauges: .init(lag: { Lag(records: [0: 7], oldest: .seconds(3)) }, backlog: ledger),
            every: .milliseconds(100),
            logger: log.logger
        )
        // A running report would reset the counters that a test reads.
        let reports: [any Service] = isReporting ? [report] : []
        group = ServiceGroup(configuration: .init(services: reports + pipeline.services, logger: quiet))
    }

    var inFlight: Int { pipeline.load.inFlight }

    var progress: Progress { pipeline.progress }
    var isDatabaseAnswering: Bool { pipeline.isDatabaseAnswering }

    /// Begins the graceful shutdown; `with` waits for its end.
    func stop() async {
        await group.triggerGracefulShutdown()
    }

    /// Opens every gate of the fakes, so that a test with a missed condition ends.
    private func letGo() {
        source.letGo()
        receipts.letGo()
        sink.letGo()
        ledger.letGo()
        rates.open()
    }

    /// Waits until `count` events are published and no work is left.
    ///
    /// Leases expire whenever nothing has happened for a while, as they would by a database's clock.
    func settle(events count: Int) async throws {
        var seen = journal.work.count
        var quiet = OwnTime()
        try await eventually("\(count) events, and nothing left to do") {
            if journal.work.count != seen {
                seen = journal.work.count
                quiet = OwnTime()
            } else if quiet.look() > .seconds(4) {
                ledger.expireLeases()
                quiet = OwnTime()
            }
            return sink.answers.count >= count && ledger.unpublished == 0 && ledger.open == 0
        }
    }
}

extension WorkerSettings {
    /// Settings with frequent sweeps, a short lease and a shorter deadline.
    static func test(lease: Duration) -> WorkerSettings {
        .test {
            $0.lease = lease
            $0.callDeadline = .milliseconds(100)
        }
    }
}
