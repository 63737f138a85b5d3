// SPDX-License-Identifier: Apache-2.0

import CLibpq

/// One session with the server, used synchronously on its connection's own thread.
///
/// Each call is one round trip that always ends with every result read, so that the next call never reads answers of
/// this one. A connection that cannot reach that state is closed.
package final class Session {
    private let connection: ConnectionHandle
    private let statementTimeout: Duration
    private let onAnswer: (@Sendable () -> Void)?
    private var isGivenUp = false

    /// The names of the prepared statements in this session.
    private var prepared: [Statement.Identity: String] = [:]

    /// Results that never change within a session.
    private var constants: [Statement.Identity: Rows] = [:]

    init(_ configuration: PostgresConfiguration) throws(PostgresError) {
        connection = try ConnectionHandle.connect(ConnectionKeywords(configuration))
        statementTimeout = configuration.statementTimeout
        onAnswer = configuration.onAnswer
        if configuration.hasSettings {
            try pinSettings(configuration)
            try limitTransactions(configuration.transactionTimeout)
        }
    }

    /// The server process id at the start of the session, as the server or a pooler reported it.
    package var announcedProcess: Int32 { connection.announcedProcess }

    /// Sets the settings by statements if a pooler dropped them at the start, and verifies them.
    private func pinSettings(_ configuration: PostgresConfiguration) throws(PostgresError) {
        let mark = PostgresConfiguration.mark
        guard connection.reported(mark.name) != mark.value else { return }
        let settings = configuration.sessionSettings
        try pipeline(
            settings.map {
                Statement("SELECT pg_catalog.set_config($1, $2, false)", [.text($0.name), .text($0.value)])
            }
        )
        let held = try execute(Statement("SELECT pg_catalog.current_setting('IntervalStyle')")).onlyRow.text(0)
        guard held == mark.value else {
            throw PostgresError(
                .connectionFailed,
                reason: "the session's settings do not hold: a pooler between must have pool_mode = session"
            )
        }
    }

    /// Sets the transaction timeout by a statement, since an older server rejects a connection that names the setting.
    private func limitTransactions(_ limit: Duration) throws(PostgresError) {
        guard limit > .zero, connection.serverVersion >= 170_000 else { return }
        try execute(
            Statement(
                "SELECT pg_catalog.set_config('transaction_timeout', $1, false)",
                [.text(String(limit.wholeMilliseconds))]
            )
        )
    }

    /// Runs one statement, in a transaction of its own unless one is open.
    @discardableResult
    package func execute(_ statement: Statement) throws(PostgresError) -> Rows {
        let answers = try pipeline([statement])
        guard let rows = answers.first else { throw PostgresError(.unexpectedResult, reason: "no answer") }
        return rows
    }

    /// Runs statements in one round trip; outside of a transaction, all of them take effect or none.
    ///
    /// Throws the first error; the statements after it do not run. A connection lost meanwhile is `ambiguousCommit`
    /// when the statements may have taken effect.
    @discardableResult
    package func pipeline(_ statements: [Statement]) throws(PostgresError) -> [Rows] {
        try roundTrip(statements, durability: .atEnd)
    }

    /// Returns the answer to a statement whose answer never changes in a session; only the first call runs it.
    func constant(_ statement: Statement, _ run: () throws(PostgresError) -> [Rows]) throws(PostgresError) -> Rows {
        if let rows = constants[statement.identity] { return rows }
        guard let rows = try run().first else { throw PostgresError(.unexpectedResult, reason: "no answer") }
        constants[statement.identity] = rows
        return rows
    }

    /// Runs a text of any number of statements in the simple protocol: for migrations only.
    package func script(_ sql: String) throws(PostgresError) {
        guard !sql.utf8.contains(0) else { throw PostgresError(.misuse, reason: "a script with a zero byte") }
        guard isUsable else { throw PostgresError(.connectionLost) }
        var trip = RoundTrip(expecting: nil, durability: .atEnd)
        trip.decisiveMessageLeaves()
        // A script is one message with one answer at its end, so only the server's own timeouts apply.
        if connection.send(script: sql), connection.flush(silence: nil) {
            drain(&trip, silence: nil)
        } else {
            trip.lose()
        }
        settle(trip)
        _ = try trip.outcome()
    }

    /// True when the session can be used again: connected, and without an open transaction.
    var isReusable: Bool {
        isUsable && connection.transactionStatus == PQTRANS_IDLE
    }

    /// True when an idle session is still connected.
    func isAlive() -> Bool {
        isReusable && connection.isAlive()
    }

    /// True after BEGIN, until an error or the end of the transaction.
    var isInTransaction: Bool {
        connection.transactionStatus == PQTRANS_INTRANS
    }

    /// True when an error has aborted the open transaction, until a rollback, at least to a savepoint.
    var isInFailedTransaction: Bool {
        isUsable && connection.transactionStatus == PQTRANS_INERROR
    }

    var isUsable: Bool { !isGivenUp && connection.isOpen }

    /// Marks the session as unusable; it is then closed, and the server rolls back.
    func giveUp() {
        isGivenUp = true
    }

    func roundTrip(
        _ statements: [Statement],
        durability: RoundTrip.Durability
    ) throws(PostgresError) -> [Rows] {
        for statement in statements { try statement.validate() }
        if statements.isEmpty { return [] }
        try prepare(statements)
        guard isUsable, connection.enterPipeline() else { throw PostgresError(.connectionLost) }
        var trip = RoundTrip(expecting: statements.count, durability: durability)
        let silence = Self.silence(of: statements.count, statementTimeout: statementTimeout)
        if send(statements, &trip, durability), connection.flush(silence: silence) {
            drain(&trip, silence: silence)
        } else {
            trip.lose()
        }
        if !trip.isConnectionLost, !connection.exitPipeline() { giveUp() }
        settle(trip)
        return try outcome(of: trip)
    }

    /// The maximum silence of the server before its answer to a number of statements; nil for no limit.
    ///
    /// Each statement may take its whole timeout, and the server may answer only after the last one. But a stalled
    /// server must be detected soon, however many statements were sent. So half a minute is the limit for any number,
    /// unless the timeout of a single one is longer.
    static func silence(of statements: Int, statementTimeout: Duration) -> Duration? {
        guard statementTimeout > .zero else { return nil }
        let reserve = Duration.seconds(5)
        return min(statementTimeout * statements + reserve, max(statementTimeout + reserve, .seconds(30)))
    }

    /// Prepares new statements in a round trip of their own, each once in a session.
    private func prepare(_ statements: [Statement]) throws(PostgresError) {
        var fresh: [(identity: Statement.Identity, name: String, statement: Statement)] = []
        for statement in statements where statement.isPrepared && prepared[statement.identity] == nil {
            if fresh.contains(where: { $0.identity == statement.identity }) { continue }
            fresh.append((statement.identity, "s\(prepared.count + fresh.count)", statement))
        }
        guard !fresh.isEmpty else { return }
        guard isUsable, connection.enterPipeline() else { throw PostgresError(.connectionLost) }
        var trip = RoundTrip(expecting: fresh.count, durability: .later)
        let isSent = fresh.allSatisfy { connection.prepare($0.statement, as: $0.name) } && connection.sendSync()
        let silence = Self.silence(of: 1, statementTimeout: statementTimeout)
        if isSent, connection.flush(silence: silence) { drain(&trip, silence: silence) } else { trip.lose() }
        if !trip.isConnectionLost, !connection.exitPipeline() { giveUp() }
        settle(trip)
        do throws(PostgresError) {
            _ = try outcome(of: trip)
        } catch {
            // Some may be prepared and some not: start over in a new session.
            giveUp()
            throw error
        }
        for (identity, name, _) in fresh { prepared[identity] = name }
    }

    private func send(_ statements: [Statement], _ trip: inout RoundTrip, _ durability: RoundTrip.Durability) -> Bool {
        for (index, statement) in statements.enumerated() {
            if durability == .atLastStatement, index == statements.count - 1 { trip.decisiveMessageLeaves() }
            guard connection.send(statement, named: prepared[statement.identity]) else { return false }
        }
        trip.decisiveMessageLeaves()
        return connection.sendSync()
    }

    private func drain(_ trip: inout RoundTrip, silence: Duration?) {
        while !trip.isComplete, !trip.isConnectionLost {
            do throws(PostgresError) {
                trip.receive(try connection.nextResult(silence: silence))
                onAnswer?()
            } catch {
                trip.lose()
            }
        }
    }

    private func settle(_ trip: borrowing RoundTrip) {
        if trip.isConnectionLost { giveUp() }
    }

    private func outcome(of trip: RoundTrip) throws(PostgresError) -> [Rows] {
        do throws(PostgresError) {
            return try trip.outcome()
        } catch {
            // A standby stays read-only: only a new connection can find the primary.
            if error.sqlState == .readOnlyTransaction { giveUp() }
            throw error
        }
    }
}
