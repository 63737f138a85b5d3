// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import Ledger
import PhoneNumbers
import PostgresClient
import Verification

/// Measures PostgreSQL's maximum throughput: a bare loop sends the worker's own statements, prepared beforehand.
struct CeilingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ceiling",
        abstract: "Sends the worker's SQL batches by a bare loop; prints one JSON line."
    )

    @Option(help: "A migrated database, as its owner.")
    var postgresUrl: String

    @Option(help: "How many requests.")
    var requests = 200_000

    @Option(help: "Requests a batch, as worker.batchSize.")
    var batchSize = 500

    @Option(help: "Connections, each with batches of its own, one after the other.")
    var lanes = 3

    func run() async throws {
        let pools = (0..<lanes).map { _ in
            PostgresPool(
                PostgresConfiguration(url: postgresUrl, settings: PostgresLedger.sessionSettings),
                size: 1
            )
        }
        let keys = CodeKeys.benchmark
        let ledger = PostgresLedger(pool: pools[0], keys: KeySource(keys), settings: .benchmark)
        var load = Load(lanes: lanes)
        var plans: [[PreparedBatch]] = []
        for lane in 0..<lanes {
            var maker = BatchMaker(ledger: ledger, policy: .benchmark, keys: keys, numbers: PhoneNumberDirectory())
            plans.append(
                (0..<(requests / batchSize / lanes)).map { _ in
                    maker.batch(of: load.records(batchSize, lane: lane), at: Timestamp.clock)
                }
            )
        }
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (pool, batches) in zip(pools, plans) {
                group.addTask { for batch in batches { try await Self.send(batch, pool) } }
            }
            try await group.waitForAll()
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        for pool in pools { await pool.close() }
        let done = plans.joined().reduce(0) { $0 + $1.requests }
        let rate = Int(Double(done) / seconds)
        print(#"{"benchmark":"ceiling","requests":\#(done),"requests_per_second":\#(rate),"lanes":\#(lanes)}"#)
    }

    private static func send(_ batch: PreparedBatch, _ pool: PostgresPool) async throws {
        for trips in batch.transactions {
            try await pool.withTransaction { transaction in
                for trip in trips.dropLast() { try transaction.run(trip) }
                try transaction.commit(trips.last ?? [])
            }
        }
    }
}
