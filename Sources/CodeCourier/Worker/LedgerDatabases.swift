// SPDX-License-Identifier: Apache-2.0

import Ledger
import Logging
import Logs
import PostgresClient
import Providers
import Verification

/// The databases of a worker, one or the shards, and the ledger over them.
struct LedgerDatabases {
    let ledger: any Ledger

    /// The limits of providers are shared by the whole fleet, so they are in the first database.
    let rates: any ProviderRates
    private let gauges: [any BacklogGauge]
    private let pools: [PostgresPool]
    private let clock: @Sendable () -> Timestamp

    /// How far the clock was ahead of a database's at the start; of several, of the one that it differed from most.
    let lead: Duration

    /// Connects to every database and throws a `DatabaseFault` unless each is fit, migrated, in its place, of this time,
    /// and of a fleet with the same keys.
    init(
        _ postgres: PostgresSettings,
        keys: KeySource,
        settings: PostgresLedger.Settings,
        clock: @escaping @Sendable () -> Timestamp,
        logger: Logger
    ) async throws {
        self.clock = clock
        let uris = postgres.databases.map(\.revealed)
        let file = postgres.file.map { DatabaseFile($0, uris: uris, logger: logger) }
        let configurations = uris.enumerated().map { place, uri in
            var configuration = PostgresConfiguration(
                url: uri,
                applicationName: "code-courier",
                settings: PostgresLedger.sessionSettings
            )
            if let file { configuration.newestURL = { file.uri(of: place) } }
            return configuration
        }
        try await configurations.checkServers()
        let pools = configurations.map { PostgresPool($0) }
        self.pools = pools
        let ledgers = pools.map { pool in
            PostgresLedger(pool: pool, keys: keys, settings: settings) { Self.report($0, logger) }
        }
        gauges = ledgers
        rates = ledgers[0]
        ledger =
            ledgers.count == 1
            ? ledgers[0] : ShardedLedger(ledgers, keys: keys.current) { Self.report($0, logger) }
        do {
            var leads: [Duration] = []
            try await pools.forEachDatabase { pool, place in
                try await Migrator(pool: pool, place: place).check()
                leads.append(try await ClockCheck.run(pool, at: clock))
            }
            try await pools.joinFleet(with: keys.current)
            lead = leads.furthest ?? .zero
        } catch {
            await pools.close()
            throw error
        }
    }

    func close() async {
        await pools.close()
    }

    /// Throws a `DatabaseFault` unless these are the fleet's keys, or new ones, which it has from now on.
    func joinFleet(with keys: CodeKeys) async throws(DatabaseFault) {
        try await pools.joinFleet(with: keys)
    }

    private static func report(_ mismatch: CodeMismatch, _ logger: Logger) {
        logger.log(
            .sendCodeMismatch,
            [
                .sendID: LogValue(mismatch.send.id), .verificationID: LogValue(mismatch.send.verificationID),
                .requestID: .text(mismatch.send.requestID), .codeKey: .text(mismatch.codeKey.description),
                .hashKey: .text(mismatch.hashKey.description),
            ].adding(mismatch.send.trace)
        )
    }

    /// How far the clock is ahead now, by the databases that answer; nil when none does.
    func currentLead() async -> Duration? {
        await withTaskGroup(of: Duration?.self) { group in
            for pool in pools {
                group.addTask { [clock] in
                    // One that is away has no clock to compare with: its outage is told by those who work with it.
                    try? await ClockCheck.lead(pool, at: clock)
                }
            }
            return await group.reduce(into: []) { leads, lead in if let lead { leads.append(lead) } }.furthest
        }
    }

    private static func report(_ change: ShardChange, _ logger: Logger) {
        switch change {
        case .failing(let failure):
            logger.log(
                .postgresShardFailing,
                [.shard: .text(String(failure.shard)), .error: LogValue(failure.error)]
            )
        case .recovered(let shard):
            logger.log(.postgresShardRecovered, [.shard: .text(String(shard))])
        }
    }
}

extension LedgerDatabases: BacklogGauge {
    /// What is left to do in all of them.
    func backlog() async throws -> Backlog {
        var sum = Backlog(dueSends: 0, outbox: 0)
        for gauge in gauges {
            let one = try await gauge.backlog()
            sum = Backlog(
                dueSends: sum.dueSends + one.dueSends,
                outbox: sum.outbox + one.outbox,
                snapshotAge: max(sum.snapshotAge, one.snapshotAge)
            )
        }
        return sum
    }
}

extension [Duration] {
    /// The one furthest from nothing, on either side.
    fileprivate var furthest: Duration? {
        self.max { Swift.max($0, .zero - $0) < Swift.max($1, .zero - $1) }
    }
}

extension [PostgresPool] {
    /// All are compared before one is written to.
    func joinFleet(with keys: CodeKeys) async throws(DatabaseFault) {
        let values = keys.checkValues
        try await forEachDatabase { pool, _ in try await KeyCheck(pool).compare(values) }
        try await forEachDatabase { pool, _ in try await KeyCheck(pool).register(values) }
    }

    func close() async {
        for pool in self { await pool.close() }
    }
}
