// SPDX-License-Identifier: Apache-2.0

import Courier
import Ledger
import Logging
import PostgresClient
import Providers
import Verification

/// The databases of a worker, one or the shards, and the ledger over them.
struct LedgerDatabases {
    let ledger: any Ledger

    /// The limits of providers are shared by the whole fleet, so they are in the first database.
    let rates: any ProviderRates
    private let pools: [PostgresPool]

    /// Connects to every database and throws a `DatabaseFault` unless each is migrated and in its place.
    init(
        _ databases: [Secret],
        keys: CodeKeys,
        settings: PostgresLedger.Settings,
        logger: Logger
    ) async throws {
        let pools = databases.map { database in
            PostgresPool(
                PostgresConfiguration(
                    url: database.revealed,
                    applicationName: "code-courier",
                    settings: PostgresLedger.sessionSettings
                )
            )
        }
        self.pools = pools
        let ledgers = pools.map { PostgresLedger(pool: $0, keys: keys, settings: settings) }
        rates = ledgers[0]
        ledger =
            ledgers.count == 1
            ? ledgers[0] : ShardedLedger(ledgers, keys: keys) { Self.report($0, logger) }
        do {
            try await pools.checkAll()
        } catch {
            await pools.close()
            throw error
        }
    }

    func close() async {
        await pools.close()
    }

    private static func report(_ change: ShardChange, _ logger: Logger) {
        switch change {
        case .failing(let failure):
            logger.error(
                "a shard fails, trying again",
                metadata: [
                    "event": "postgres.shard_failing", "shard": "\(failure.shard)", "error": "\(failure.error)",
                ]
            )
        case .recovered(let shard):
            logger.notice(
                "a shard answers again",
                metadata: ["event": "postgres.shard_recovered", "shard": "\(shard)"]
            )
        }
    }
}

extension [PostgresPool] {
    /// Throws a fault unless every database is one that workers can use.
    fileprivate func checkAll() async throws {
        for (number, pool) in enumerated() {
            do {
                try await Migrator(pool: pool, place: ShardPlace(number, of: count)).check()
            } catch {
                throw DatabaseFault(error, ShardPlace(number, of: count))
            }
        }
    }

    func close() async {
        for pool in self { await pool.close() }
    }
}
