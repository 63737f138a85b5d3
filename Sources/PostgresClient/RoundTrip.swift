// SPDX-License-Identifier: Apache-2.0

import CLibpq

/// What one round trip has brought so far, and what it means when no more comes.
struct RoundTrip {
    /// When the statements take effect.
    enum Durability {
        /// Within a transaction that a later round trip commits: a lost connection has changed nothing.
        case later
        /// At the end of the round trip.
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

    /// A pipeline of so many statements; nil is a script, whose statements nobody has counted.
    init(expecting expected: Int?, durability: Durability) {
        self.expected = expected
        self.durability = durability
    }

    /// To be called before the message leaves that makes the statements take effect.
    mutating func decisiveMessageLeaves() {
        mayTakeEffect = durability != .later
    }

    /// Takes the next result, nil being the end of one statement's results.
    mutating func receive(_ result: consuming ResultHandle?) {
        guard let result = consume result else {
            nothings += 1
            // A script ends with nothing; in a pipeline nothing stands between two results, never twice.
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
            // COPY would need a conversation that this client does not hold.
            error = error ?? PostgresError(.misuse, reason: "COPY is not supported")
            isConnectionLost = true
        }
        if let expected, results > 2 * expected + 4 { lose() }
    }

    /// The connection ended, or fell silent, before the round trip was complete.
    mutating func lose() {
        isConnectionLost = true
        guard error == nil, !isCommitted else { return }
        error = PostgresError(mayTakeEffect ? .ambiguousCommit : .connectionLost)
    }

    /// Every statement's rows, or the first error.
    func outcome() throws(PostgresError) -> [Rows] {
        if let error { throw error }
        if let expected, rows.count != expected {
            throw PostgresError(.unexpectedResult, reason: "\(rows.count) answers to \(expected) statements")
        }
        return rows
    }

    /// Whether COMMIT was answered, so that nothing that happens now can undo it.
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

    /// A session that the server ended while a statement before the decisive one ran has changed nothing.
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
