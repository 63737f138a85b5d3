// SPDX-License-Identifier: Apache-2.0

import Courier
import Logging
import ServiceLifecycle
import TestSupport
import TestTools
import Testing
import Verification

/// A pipeline between ports in memory.
struct MemoryWorker: Sendable {
    let journal: Journal
    let source: MemorySource
    let receipts: MemorySource
    let sink: MemorySink
    let ledger: FailingLedger
    let rates = MemoryRates()
    let policies: PolicySource
    let log: LogRecord
    let courier: Courier
    private let group: ServiceGroup

    /// Lends a running pipeline, and stops it in the end.
    ///
    /// Without providers there is one that takes every message; a route names them in their order. A worker that
    /// `isReporting` writes its figures.
    static func with(
        _ providers: [MemoryProvider] = [],
        journal: Journal = Journal(),
        settings: CourierSettings = .test,
        limits: [String: RateLimit] = [:],
        messages: MessagePolicy = MessagePolicy(),
        onOptOut: OptOutRule = .stop,
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
        _ settings: CourierSettings,
        _ limits: [String: RateLimit],
        _ messages: MessagePolicy,
        _ onOptOut: OptOutRule,
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
        courier = Courier(
            parts: Courier.Parts(
                source: source,
                receipts: receipts,
                sink: sink,
                ledger: ledger,
                providers: providers,
                limits: limits,
                rates: rates,
                numbers: FixedNumbers(),
                keys: KeySource(.test),
                policies: policies
            ),
            settings: settings,
            statistics: statistics,
            workerID: "host-1",
            logger: log.logger
        )
        let report = StatisticsReport(
            statistics,
            of: courier,
            gauges: .init(lag: { Lag(records: [0: 7], oldest: .seconds(3)) }, backlog: ledger),
            every: .milliseconds(100),
            logger: log.logger
        )
        // It would take the figures from a test that wants to see them.
        let reports: [any Service] = isReporting ? [report] : []
        group = ServiceGroup(configuration: .init(services: reports + courier.services, logger: quiet))
    }

    /// The sends that it holds.
    var inFlight: Int { courier.load.inFlight }

    /// How its stages get on.
    var progress: Progress { courier.progress }
    var isDatabaseAnswering: Bool { courier.isDatabaseAnswering }

    /// Begins the graceful shutdown; `with` waits for its end.
    func stop() async {
        await group.triggerGracefulShutdown()
    }

    /// Lets go whatever the ports hold, so that a test that misses something ends.
    private func letGo() {
        source.letGo()
        receipts.letGo()
        sink.letGo()
        ledger.letGo()
        rates.open()
    }

    /// Waits until all that was asked for has been published, as a database's clock would have it: leases run out
    /// whenever nothing has happened for a while.
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

extension CourierSettings {
    /// Sweeps that come quickly, and else the defaults.
    static let test = test(lease: .seconds(30), callDeadline: .seconds(10))

    /// The same with claims that are soon over.
    static func test(lease: Duration, callDeadline: Duration = .milliseconds(100)) -> CourierSettings {
        CourierSettings(
            decision: .test,
            lease: lease,
            callDeadline: callDeadline,
            sweepInterval: .milliseconds(20)
        )
    }
}
