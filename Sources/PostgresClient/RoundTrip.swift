// SPDX-License-Identifier: Apache-2.0

import CLibpq

/// Collects the answers of one round trip, and decides its outcome when it ends early.
struct RoundTrip {
    /// The point at which the statements take effect.
    enum Durability {
        /// In a later round trip, which commits the transaction: a lost connection changes nothing.
        case later
        case atEnd
        /// At the last statement, which is COMMIT.
        case atLastStatement
    }

    private let expected: Int?
    private let durability: Durability
    private var rows: [Rows] = []
    private var error: PostgresError?
    private var mayTakeEffect = false
    private var nothings = 0
    private var results = 0
    private(set) var isComplete = false
    private(set) var isConnectionLost = false

    /// Expects a pipeline of a number of statements; nil for a script, whose statements are not counted.
    init(expecting expected: Int?, durability: Durability) {
        self.expected = expected
        self.durability = durability
    }

    /// Call before sending the message that makes the statements take effect.
    mutating func decisiveMessageLeaves() {
        mayTakeEffect = durability != .later
    }

    /// Adds the next result; nil is the end of one statement's results.
    mutating func receive(_ result: consuming ResultHandle?) {
        guard let result = consume result else {
            nothings += 1
            // A script ends with one nil. In a pipeline nils only separate results, so several in a row mean a lost
            // connection.
            if expected == nil { isComplete = true } else if nothings > 2 { lose() }
            return
        }
        nothings = 0
        results += 1
        switch result.status {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: rows.append(Rows(result))
        case PGRES_PIPELINE_SYNC: isComplete = true
        case PGRES_PIPELINE_ABORTED: break
        case PGRES_FATAL_ERROR: fail(result.serverError)
        default:
            // COPY needs further messages, which this client does not support.
            error = error ?? PostgresError(.misuse, reason: "COPY is not supported")
            isConnectionLost = true
        }
        if let expected, results > 2 * expected + 4 { lose() }
    }

    /// Records that the connection ended, or the server fell silent, before the round trip was complete.
    mutating func lose() {
        isConnectionLost = true
        guard error == nil, !isCommitted else { return }
        error = PostgresError(mayTakeEffect ? .ambiguousCommit : .connectionLost)
    }

    /// Returns the rows of every statement, or throws the first error.
    func outcome() throws(PostgresError) -> [Rows] {
        if let error { throw error }
        if let expected, rows.count != expected {
            throw PostgresError(.unexpectedResult, reason: "\(rows.count) answers to \(expected) statements")
        }
        return rows
    }

    /// True when COMMIT was answered, so that nothing can undo it.
    private var isCommitted: Bool {
        durability == .atLastStatement && rows.count == expected
    }

    private mutating func fail(_ serverError: (error: PostgresError, endsSession: Bool)?) {
        guard let serverError else {
            lose()
            return
        }
        if serverError.endsSession { isConnectionLost = true }
        guard error == nil, !isCommitted else { return }
        error = serverError.endsSession ? lastWords(serverError.error) : serverError.error
    }

    /// Maps an error that ended the session: before the decisive statement ran, nothing has changed.
    private func lastWords(_ serverError: PostgresError) -> PostgresError {
        let decisive =
            switch durability {
            case .later: false
            case .atEnd: rows.count == expected ?? rows.count
            case .atLastStatement: rows.count + 1 == expected
            }
        return PostgresError(decisive ? .ambiguousCommit : .connectionLost, sqlState: serverError.sqlState)
    }
}
