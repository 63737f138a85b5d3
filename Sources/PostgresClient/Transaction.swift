// SPDX-License-Identifier: Apache-2.0

/// One READ COMMITTED transaction, used synchronously on its connection's thread.
///
/// BEGIN and COMMIT travel with its statements: `run` then `commit` cost two round trips, `commit` alone costs one.
package final class Transaction {
    private enum State {
        /// Nothing was sent. Exits to every other state.
        case fresh
        /// BEGIN was done. Exits to `committed` or `failed`.
        case open
        case committed
        /// A statement or COMMIT failed: nothing more can be done.
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

    /// Runs statements in one round trip; the first call brings BEGIN along.
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

    /// The answer to a statement that is the same for as long as the session lasts; only its first transaction runs it.
    package func constant(_ statement: Statement) throws(PostgresError) -> Rows {
        try session.constant(statement) { () throws(PostgresError) in try run([statement]) }
    }

    /// Runs the last statements and COMMIT in one round trip.
    ///
    /// Throws `ambiguousCommit` when COMMIT may have been done and its answer was lost.
    @discardableResult
    package func commit(_ statements: [Statement] = []) throws(PostgresError) -> [Rows] {
        if case .fresh = state, statements.isEmpty {
            state = .committed
            return []
        }
        return try commit(after: beginning(), statements)
    }

    /// Tries to commit: a statement that fails undoes only what was given here, and the transaction may go on.
    ///
    /// Locks from before are kept. A lost connection ends it, as with `commit`.
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
            // The server answers COMMIT of a failed transaction by ROLLBACK, and calls it success.
            guard answers.last?.commandTag == "COMMIT" else { throw PostgresError(.transactionAborted) }
            state = .committed
            return Array(answers.dropFirst(begin.count).dropLast())
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// BEGIN, if it is due.
    private func beginning() throws(PostgresError) -> [Statement] {
        switch state {
        case .fresh: return [Statement("BEGIN ISOLATION LEVEL READ COMMITTED")]
        case .open: return []
        case .committed: throw PostgresError(.misuse, reason: "the transaction is committed")
        case .failed(let error): throw error
        }
    }

    /// Commits what the body left open; a failure that the body swallowed is thrown again.
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
            // The caller gets the error that led here; ending the session rolls back as well.
            session.giveUp()
        }
    }
}
