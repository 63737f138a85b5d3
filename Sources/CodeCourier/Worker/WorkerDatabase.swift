// SPDX-License-Identifier: Apache-2.0

import Administration
import Courier
import Formats
import Ledger
import Logging
import Logs
import PostgresClient
import Providers
import Verification

/// The database of a worker, and the ledger in it.
struct WorkerDatabase {
    let ledger: PostgresLedger

    /// The lead of the worker's clock over the database's at the start.
    let lead: Duration
    private let pool: PostgresPool
    private let cell: UInt8
    private let clock: @Sendable () -> Timestamp

    /// Connects to the database and checks it.
    ///
    /// Throws a `DatabaseFault` unless server, schema, clock and cell are right, its fleet has the same keys, and no
    /// live row needs another one.
    init(
        _ postgres: PostgresSettings,
        keys: KeySource,
        settings: WorkerSettings,
        clock: @escaping @Sendable () -> Timestamp,
        logger: Logger
    ) async throws(DatabaseFault) {
        cell = settings.cell
        self.clock = clock
        var configuration = PostgresConfiguration(
            url: postgres.url.revealed,
            applicationName: "code-courier",
            settings: PostgresLedger.sessionSettings
        )
        configuration.transactionTimeout = .seconds(30)
        // A worker that waits for a slow but answering database is not stalled.
        configuration.onAnswer = { Progress.advanceCurrent() }
        if let file = postgres.file {
            let file = DatabaseFile(file, uri: postgres.url.revealed, logger: logger)
            configuration.newestURL = { file.uri }
        }
        let pool = PostgresPool(configuration)
        self.pool = pool
        ledger = PostgresLedger(pool: pool, keys: keys, settings: settings) { Self.report($0, logger) }
        do {
            try await ServerCheck.run(configuration)
            try await Migrator(pool: pool).check()
            lead = try await ClockCheck.run(pool, at: clock)
            try await Self.join(pool, cell, keys.current)
            if try await EventSetting.set(approved: settings.publishesApproved, pool) {
                logger.log(.eventsSwitched, [.setting: .text("events.approved: \(settings.publishesApproved)")])
            }
        } catch {
            await pool.close()
            throw DatabaseFault(error)
        }
    }

    func close() async {
        await pool.close()
    }

    /// Throws a `DatabaseFault` unless live rows need no other keys, and these are the fleet's or new, which it registers.
    func joinFleet(with keys: CodeKeys) async throws(DatabaseFault) {
        do {
            try await Self.join(pool, cell, keys)
        } catch {
            throw DatabaseFault(error)
        }
    }

    /// Throws a `DatabaseFault` unless a worker with these keys could start; writes nothing.
    static func check(_ postgres: PostgresSettings, keys: CodeKeys) async throws(DatabaseFault) {
        let configuration = PostgresConfiguration(url: postgres.url.revealed, applicationName: "code-courier run")
        let pool = PostgresPool(configuration, size: 1)
        do {
            try await ServerCheck.run(configuration)
            try await Migrator(pool: pool).check()
            _ = try await ClockCheck.run(pool, at: { .now })
            try await compare(pool, keys)
            await pool.close()
        } catch {
            await pool.close()
            throw DatabaseFault(error)
        }
    }

    private static func compare(_ pool: PostgresPool, _ keys: CodeKeys) async throws {
        try await KeyCheck(pool).compare(keys.checkValues)
        try await KeyUse(pool).expectAll(in: keys)
    }

    /// Compares keys before anything is written, so that a worker that may not join registers neither its cell nor its
    /// keys.
    private static func join(_ pool: PostgresPool, _ cell: UInt8, _ keys: CodeKeys) async throws {
        try await compare(pool, keys)
        try await CellCheck.join(cell, pool)
        try await KeyCheck(pool).register(keys.checkValues)
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

    /// The faults of budgets' time zones; none during an outage, since without a known zone no money is leased.
    func timeZoneFaults(of policy: Policy) async -> [String] {
        (try? await TimeZoneCheck(pool).faults(of: policy)) ?? []
    }

    /// The clock's current lead; nil during an outage, which the users of the database report.
    func currentLead() async -> Duration? {
        try? await ClockCheck.lead(pool, at: clock)
    }
}
