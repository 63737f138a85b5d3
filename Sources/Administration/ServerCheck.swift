// SPDX-License-Identifier: Apache-2.0

package import Formats
package import PostgresClient

/// The properties of a server and a database that decide whether a ledger can use it.
package struct ServerFacts: Sendable {
    /// The version number, such as 150004 for 15.4.
    package let version: Int32
    package let encoding: String
    package let isStandby: Bool

    /// The source of a setting that makes every transaction read-only, as in `pg_settings.source`; nil without one.
    package let readOnlySource: String?

    package init(version: Int32, encoding: String, isStandby: Bool = false, readOnlySource: String? = nil) {
        self.version = version
        self.encoding = encoding
        self.isStandby = isStandby
        self.readOnlySource = readOnlySource
    }

    /// The first reason to reject the server; nil when it is usable.
    package var unfitness: ServerCheck.Unfit? {
        if version < ServerCheck.oldestVersion { return .tooOld(version: version) }
        if encoding != "UTF8" { return .encoding(encoding) }
        if isStandby { return .standby }
        return readOnlySource.map { .readOnly(source: $0) }
    }
}

/// Checks at the start of a worker and before a migration that a server can hold a ledger.
///
/// Retries cannot fix what this check finds, so it is reported once, in words.
package enum ServerCheck {
    /// The oldest version with all features of the migrations, as in `server_version_num`.
    package static let oldestVersion: Int32 = 140_000

    package enum Unfit: Error, Equatable, CustomStringConvertible {
        case tooOld(version: Int32)
        case encoding(String)
        case standby
        case readOnly(source: String)
        case pooled

        package var description: String {
            switch self {
            case .tooOld(let version):
                "the server is PostgreSQL \(version / 10_000), which is too old: use PostgreSQL 14 or newer"
            case .encoding(let name):
                """
                the database's encoding is \(name), which does not store every text: \
                make another by CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0
                """
            case .standby:
                """
                the server is a standby, which accepts no writes: name the primary, \
                or all hosts and target_session_attrs=read-write
                """
            case .readOnly(let source):
                """
                the database accepts no writes: default_transaction_read_only is on (source: \(source)): \
                find out why, as a full disk, and turn it off
                """
            case .pooled:
                """
                a pooler between gives sessions away by transaction or statement: \
                set pool_mode = session in PgBouncer, or connect directly
                """
            }
        }
    }

    /// Checks the server; throws `Unfit`, or the database's error.
    ///
    /// The connections do not set the ledger's settings: an old server would reject unknown ones, and a pooler any of
    /// them. Without the search path, every name and operator is qualified with its schema. The limits of a session are
    /// set within each transaction, since the database may have other defaults.
    package static func run(_ configuration: PostgresConfiguration) async throws {
        var bare = configuration
        bare.hasSettings = false
        let connections = (0..<marking.count).map { _ in PostgresConnection(bare) }
        let result: Result<Void, any Error>
        do {
            result = .success(try await check(connections))
        } catch {
            result = .failure(error)
        }
        for connection in connections { await connection.close() }
        try result.get()
    }

    private static func check(_ connections: [PostgresConnection]) async throws {
        let (facts, isDirect) = try await connections[0].run { session in
            (try Self.facts(session), try Self.state(session).process == session.announcedProcess)
        }
        if let unfit = facts.unfitness { throw unfit }
        if !isDirect { try await checkPooler(connections) }
    }

    /// The limits of our sessions, set for one transaction; none of the statements here is slow by itself.
    private static let limits = [
        Statement("SET LOCAL statement_timeout TO '10s'"), Statement("SET LOCAL lock_timeout TO '1s'"),
        Statement("SET LOCAL jit TO off"),
    ]

    /// The result of one statement under the limits.
    @discardableResult
    private static func ask(_ statement: Statement, _ session: Session) throws(PostgresError) -> Rows {
        guard let rows = try session.pipeline(limits + [statement]).last else {
            throw PostgresError(.unexpectedResult, reason: "no answer")
        }
        return rows
    }

    /// The marks, one for each session, set without parameters: prepared statements are among the features that a
    /// pooler breaks.
    private static let marking = [
        Statement("SELECT pg_catalog.set_config('courier.session', '0', false)"),
        Statement("SELECT pg_catalog.set_config('courier.session', '1', false)"),
        Statement("SELECT pg_catalog.set_config('courier.session', '2', false)"),
        Statement("SELECT pg_catalog.set_config('courier.session', '3', false)"),
    ]

    /// Throws `pooled` when a session does not keep its server process and settings to itself.
    ///
    /// It uses as many sessions as a worker has: with only two, each might happen to get its own process.
    ///
    /// A pooler in transaction mode lends the process that was used last, or the one that was idle longest. The order
    /// of the statements here follows neither, so that a session meets another one's process, or its own setting in
    /// another session, with any number of processes.
    private static func checkPooler(_ connections: [PostgresConnection]) async throws {
        var processes: [Int32] = []
        for (number, connection) in connections.enumerated() {
            processes.append(
                try await connection.run { session in
                    try ask(marking[number], session)
                    return try Self.state(session).process
                }
            )
        }
        guard Set(processes).count == processes.count else { throw Unfit.pooled }
        for number in [0, 0, 1, 2, 0, 3, 3, 1, 0, 2, 2, 1, 3] {
            let found = try await connections[number].run { session in try Self.state(session) }
            guard found == SessionState(process: processes[number], mark: String(number)) else { throw Unfit.pooled }
        }
    }

    private struct SessionState: Equatable {
        let process: Int32
        let mark: String?
    }

    private static func state(_ session: Session) throws -> SessionState {
        let row = try ask(
            Statement("SELECT pg_catalog.pg_backend_pid(), pg_catalog.current_setting('courier.session', true)"),
            session
        ).onlyRow
        return SessionState(process: try row.int32(0), mark: try row.optionalText(1))
    }

    private static func facts(_ session: Session) throws -> ServerFacts {
        let row = try ask(
            Statement(
                """
                SELECT pg_catalog.current_setting('server_version_num')::pg_catalog.int4,
                    pg_catalog.current_setting('server_encoding'), pg_catalog.pg_is_in_recovery(),
                    (SELECT s.source FROM pg_catalog.pg_settings s
                     WHERE s.name OPERATOR(pg_catalog.=) 'default_transaction_read_only'
                       AND pg_catalog.current_setting('transaction_read_only') OPERATOR(pg_catalog.=) 'on')
                """
            ),
            session
        ).onlyRow
        return ServerFacts(
            version: try row.int32(0),
            encoding: try row.text(1),
            isStandby: try row.bool(2),
            readOnlySource: try row.optionalText(3)
        )
    }
}

/// Compares a worker's cell with the database's cell, which its first worker set.
package enum CellCheck {
    /// The database belongs to another cell than the worker.
    package struct OtherCell: Error, Equatable, CustomStringConvertible {
        package let cell: UInt8
        package let workerCell: UInt8

        package init(cell: UInt8, workerCell: UInt8) {
            self.cell = cell
            self.workerCell = workerCell
        }

        package var description: String {
            """
            the database belongs to cell \(cell) (courier.cell) and worker.cell is \(workerCell): name the database of \
            cell \(workerCell), or set worker.cell to \(cell)
            """
        }
    }

    /// Assigns the database to the cell, or throws when it belongs to another one.
    ///
    /// Of two first workers, the second waits for the first one's row lock and then reads the row.
    package static func join(_ cell: UInt8, _ pool: PostgresPool) async throws {
        let number = try await pool.withTransaction { transaction in
            try transaction.commit([
                Statement(
                    "INSERT INTO courier.cell (number) VALUES ($1) ON CONFLICT DO NOTHING",
                    [.int16(Int16(cell))]
                ),
                Statement("SELECT number FROM courier.cell"),
            ])[1].onlyRow.int16(0)
        }
        guard number == Int16(cell) else { throw OtherCell(cell: UInt8(clamping: number), workerCell: cell) }
    }
}

/// Compares a worker's clock with a database's.
///
/// An id contains the worker's time, but the database's clock creates and drops the daily partitions: rows with a
/// distant time would be dropped while they live, or block the creation of future partitions.
package enum ClockCheck {
    /// Rows are kept for at least a day beyond their lives, and partitions are created three days ahead.
    package static let tolerance = Duration.seconds(12 * 3600)

    package struct Apart: Error, Equatable, CustomStringConvertible {
        /// The lead of the worker's clock over the database's; negative when it is behind.
        package let lead: Duration

        package var description: String {
            let hours = (lead.components.seconds.magnitude + 1800) / 3600
            let side = lead > .zero ? "ahead of" : "behind"
            return "this machine's clock is \(hours) hours \(side) the database's: set both right, such as by NTP"
        }
    }

    /// Returns the lead; throws `Apart` when it is beyond `tolerance`, or the database's error.
    @discardableResult
    package static func run(_ pool: PostgresPool, at now: @escaping @Sendable () -> Timestamp) async throws -> Duration
    {
        let lead = try await lead(pool, at: now)
        guard (.zero - tolerance...tolerance).contains(lead) else { throw Apart(lead: lead) }
        return lead
    }

    /// The least possible lead of the worker's clock over the database's; negative when it is behind.
    package static func lead(_ pool: PostgresPool, at now: @escaping @Sendable () -> Timestamp) async throws -> Duration
    {
        try await pool.withSession { session in
            let before = now()
            let row = try session.execute(Statement("SELECT clock_timestamp()")).onlyRow
            return lead(before: before, database: Timestamp(microseconds: try row.timestamp(0)), after: now())
        }
    }

    /// The lead closest to zero that the round trip allows, so that a slow answer does not count as a wrong clock.
    static func lead(before: Timestamp, database: Timestamp, after: Timestamp) -> Duration {
        let least = min(before, after) - database
        let most = max(before, after) - database
        return least > .zero ? least : min(most, .zero)
    }
}
