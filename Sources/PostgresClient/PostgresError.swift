// SPDX-License-Identifier: Apache-2.0

/// Why PostgreSQL did not do what was asked.
///
/// The server's message, detail and hint are never kept: they echo the values of a row.
package struct PostgresError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Code: String, Sendable, Hashable {
        /// No connection could be made; nothing was sent.
        case connectionFailed
        /// The connection ended and what was sent surely did not take effect.
        case connectionLost
        /// The connection ended and what was sent may have been committed.
        case ambiguousCommit
        /// The server refused; `sqlState` says why.
        case server
        /// COMMIT was answered by ROLLBACK.
        case transactionAborted
        /// A result does not have the shape that the caller reads.
        case unexpectedResult
        /// No connection of the pool became free within the deadline.
        case poolExhausted
        /// The pool is closed.
        case closed
        /// A call that the program must not make.
        case misuse
    }

    package let code: Code
    package let sqlState: SQLState?
    package let constraint: String?
    package let table: String?

    /// For `connectionFailed`, libpq's first line without the password; else a fixed text of this module.
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

    /// Whether the same work may succeed when done again, without a risk of doing it twice.
    package var isRetriable: Bool {
        switch code {
        case .connectionFailed, .connectionLost, .poolExhausted: true
        case .server: sqlState.map(Self.isTransient) ?? false
        case .ambiguousCommit, .transactionAborted, .unexpectedResult, .closed, .misuse: false
        }
    }

    /// Whether the connection, not the statement, is at fault.
    package var isConnectionError: Bool {
        switch code {
        case .connectionFailed, .connectionLost, .ambiguousCommit: true
        case .server: sqlState?.isOfClass("08") ?? false
        case .transactionAborted, .unexpectedResult, .poolExhausted, .closed, .misuse: false
        }
    }

    /// Whether the server was away or had no room for anything: what it was asked is not at fault.
    package var isOutage: Bool {
        switch code {
        case .connectionFailed, .connectionLost, .ambiguousCommit, .poolExhausted: true
        case .server: sqlState.map(Self.isOutage) ?? false
        case .transactionAborted, .unexpectedResult, .closed, .misuse: false
        }
    }

    /// Whether locks of others were in the way, or the time for a statement was over: the work may succeed later.
    package var isContention: Bool {
        code == .server && sqlState.map { Self.contention.contains($0) } == true
    }

    /// Whether the work may have been committed although no answer came: it is done again only if it is idempotent.
    package var isAmbiguous: Bool { code == .ambiguousCommit }

    package var description: String {
        var text = "PostgreSQL \(code.rawValue)"
        if let sqlState { text += " \(sqlState)\(sqlState.name.map { " (\($0))" } ?? "")" }
        if let table { text += " table=\(table)" }
        if let constraint { text += " constraint=\(constraint)" }
        if let reason { text += ": \(reason)" }
        return text
    }

    /// A timeout (57014, 55P03) counts as transient: load or another's lock made it, and callers bound their retries.
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
