// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// An error of PostgreSQL or of the connection to it.
///
/// The server's message, detail and hint are never kept: they quote values of a row.
package struct PostgresError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable {
        /// No connection could be opened; nothing was sent.
        case connectionFailed
        /// The connection ended, and the statements certainly had no effect.
        case connectionLost
        /// The connection ended, and the statements may have been committed.
        case ambiguousCommit
        /// The server rejected the statement; `sqlState` has the reason.
        case server
        /// The server answered COMMIT with ROLLBACK.
        case transactionAborted
        /// A result does not have the shape that the caller reads.
        case unexpectedResult
        /// No connection of the pool became free within the deadline.
        case poolExhausted
        case closed
        /// A call that a correct program never makes.
        case misuse
    }

    package let code: Code
    package let sqlState: SQLState?
    package let constraint: String?
    package let table: String?

    /// For `connectionFailed`, libpq's first line without the password; otherwise a fixed text of this module.
    package let reason: String?

    package init(
        _ code: Code,
        sqlState: SQLState? = nil,
        constraint: String? = nil,
        table: String? = nil,
        reason: String? = nil
    ) {
        self.code = code
        self.sqlState = sqlState
        self.constraint = constraint
        self.table = table
        self.reason = reason
    }

    /// True when a retry may succeed, without the risk of doing the work twice.
    package var isRetriable: Bool {
        switch code {
        case .connectionFailed, .connectionLost, .poolExhausted: true
        case .server: sqlState.map(Self.isTransient) ?? false
        case .ambiguousCommit, .transactionAborted, .unexpectedResult, .closed, .misuse: false
        }
    }

    /// True when the connection is at fault, not the statement.
    package var isConnectionError: Bool {
        switch code {
        case .connectionFailed, .connectionLost, .ambiguousCommit: true
        case .server: sqlState?.isOfClass("08") ?? false
        case .transactionAborted, .unexpectedResult, .poolExhausted, .closed, .misuse: false
        }
    }

    /// True when the server was unavailable or out of resources, so that the statement is not at fault.
    package var isOutage: Bool {
        switch code {
        case .connectionFailed, .connectionLost, .ambiguousCommit, .poolExhausted: true
        case .server: sqlState.map(Self.isOutage) ?? false
        case .transactionAborted, .unexpectedResult, .closed, .misuse: false
        }
    }

    /// True after a lock conflict or a statement timeout: a retry may succeed.
    package var isContention: Bool {
        code == .server && sqlState.map { Self.contention.contains($0) } == true
    }

    /// True when the work may have been committed although no answer arrived; retry it only if it is idempotent.
    package var isAmbiguous: Bool { code == .ambiguousCommit }

    package var description: String {
        var text = "PostgreSQL \(code.rawValue)"
        if let sqlState { text += " \(sqlState)\(sqlState.name.map { " (\($0))" } ?? "")" }
        if let table { text += " table=\(table)" }
        if let constraint { text += " constraint=\(constraint)" }
        if let reason { text += ": \(reason)" }
        return text
    }

    /// Timeouts (57014, 55P03) count as transient: load or another session's lock causes them, and retries are bounded.
    private static func isTransient(_ state: SQLState) -> Bool {
        contention.contains(state) || isOutage(state)
    }

    private static let contention: Set<SQLState> = [
        .serializationFailure, .deadlockDetected, .lockNotAvailable, .queryCanceled,
    ]

    private static func isOutage(_ state: SQLState) -> Bool {
        [.readOnlyTransaction, .adminShutdown, .crashShutdown, .cannotConnectNow].contains(state)
            || state.isOfClass("08") || state.isOfClass("53") || state.isOfClass("58")
    }
}

/// The times at which a pool last met a sign of a server outage, and a lock conflict.
///
/// Signs of an outage are a lost connection, a connection made to replace a lost one, and an error that is not the
/// fault of the work.
final class OutageSigns: Sendable {
    private struct Times {
        var outage: ContinuousClock.Instant?
        var contention: ContinuousClock.Instant?
    }

    private let last = Mutex(Times())

    func note() {
        last.withLock { $0.outage = .now }
    }

    func noteContention() {
        last.withLock { $0.contention = .now }
    }

    func occurred(within time: Duration) -> Bool {
        last.withLock(\.outage).map { .now - $0 < time } ?? false
    }

    func sawContention(within time: Duration) -> Bool {
        last.withLock(\.contention).map { .now - $0 < time } ?? false
    }
}
