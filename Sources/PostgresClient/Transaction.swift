// SPDX-License-Identifier: Apache-2.0

/// One READ COMMITTED transaction, used synchronously on its connection's thread.
///
/// BEGIN and COMMIT are sent with its statements: `run` then `commit` cost two round trips, `commit` alone costs one.
package final class Transaction {
    private enum State {
        /// Nothing was sent. Precedes every other state.
        case fresh
        /// BEGIN has run. Precedes `committed` or `failed`.
        case open
        case committed
        /// A statement or COMMIT failed: no more statements can run.
        case failed(PostgresError)
    }

    private let session: Session
    private var state = State.fresh

    private init(_ session: Session) {
        self.session = session
    }

    /// Runs `body` in a transaction, commits it if the body did not, and rolls back when the body throws.
    static func perform<Result>(
        on session: Session,
        _ body: (Transaction) throws -> Result
    ) throws -> Result {
        let transaction = Transaction(session)
        do {
            let result = try body(transaction)
            try transaction.finish()
            return result
        } catch {
            transaction.rollBack()
            throw error
        }
    }

    /// Runs statements in one round trip; the first call also sends BEGIN.
    @discardableResult
    package func run(_ statements: [Statement]) throws(PostgresError) -> [Rows] {
        let begin = try beginning()
        do throws(PostgresError) {
            let answers = try session.roundTrip(begin + statements, durability: .later)
            if session.isInTransaction {
                state = .open
                return Array(answers.dropFirst(begin.count))
            }
            throw PostgresError(.misuse, reason: "a statement ended the transaction")
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// Returns the answer to a statement whose answer never changes in a session; only its first transaction runs it.
    package func constant(_ statement: Statement) throws(PostgresError) -> Rows {
        try session.constant(statement) { () throws(PostgresError) in try run([statement]) }
    }

    /// Runs the last statements and COMMIT in one round trip.
    ///
    /// Throws `ambiguousCommit` when the answer was lost and COMMIT may have run.
    @discardableResult
    package func commit(_ statements: [Statement] = []) throws(PostgresError) -> [Rows] {
        if case .fresh = state, statements.isEmpty {
            state = .committed
            return []
        }
        return try commit(after: beginning(), statements)
    }

    /// Tries to commit; if a statement fails, only these statements are undone and the transaction can continue.
    ///
    /// Earlier locks are kept. A lost connection ends the transaction, as in `commit`.
    package func tryCommit(_ statements: [Statement]) throws(PostgresError) -> [Rows] {
        let begin = try beginning() + [Statement("SAVEPOINT trial")]
        do throws(PostgresError) {
            return try commit(after: begin, statements)
        } catch {
            if error.code == .server, session.isInFailedTransaction {
                _ = try session.roundTrip([Statement("ROLLBACK TO SAVEPOINT trial")], durability: .later)
                state = .open
            }
            throw error
        }
    }

    private func commit(after begin: [Statement], _ statements: [Statement]) throws(PostgresError) -> [Rows] {
        do throws(PostgresError) {
            let all = begin + statements + [Statement("COMMIT")]
            let answers = try session.roundTrip(all, durability: .atLastStatement)
            // The server answers COMMIT of a failed transaction with ROLLBACK, and reports success.
            guard answers.last?.commandTag == "COMMIT" else { throw PostgresError(.transactionAborted) }
            state = .committed
            return Array(answers.dropFirst(begin.count).dropLast())
        } catch {
            state = .failed(error)
            throw error
        }
    }

    private func beginning() throws(PostgresError) -> [Statement] {
        switch state {
        case .fresh: return [Statement("BEGIN ISOLATION LEVEL READ COMMITTED")]
        case .open: return []
        case .committed: throw PostgresError(.misuse, reason: "the transaction is committed")
        case .failed(let error): throw error
        }
    }

    /// Commits if the body did not; throws a failure again that the body caught.
    private func finish() throws(PostgresError) {
        switch state {
        case .fresh, .committed: break
        case .open: _ = try commit()
        case .failed(let error): throw error
        }
    }

    private func rollBack() {
        guard session.isUsable, !session.isReusable else { return }
        do throws(PostgresError) {
            _ = try session.roundTrip([Statement("ROLLBACK")], durability: .later)
        } catch {
            // The caller gets the original error; ending the session rolls back as well.
            session.giveUp()
        }
    }
}
