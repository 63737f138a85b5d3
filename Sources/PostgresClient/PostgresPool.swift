// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A fixed number of connections, lent to one caller at a time in the order of asking.
///
/// A caller that has to wait gives up after the waiting deadline, or when its task is cancelled. A free connection is
/// lent to a cancelled task too, so that a worker which is shutting down can still record what it did.
package final class PostgresPool: Sendable {
    private typealias Waiter = CheckedContinuation<Int, any Error>
    private typealias Closer = CheckedContinuation<Void, Never>

    private let connections: [PostgresConnection]
    private let signs: OutageSigns
    private let waitTimeout: Duration
    private let state: Mutex<PoolStateMachine<Waiter, Closer>>

    /// A pool that connects when it is used; a size below 1 counts as 1.
    package init(_ configuration: PostgresConfiguration, size: Int = 4, waitTimeout: Duration = .seconds(10)) {
        let size = max(1, size)
        let signs = OutageSigns()
        self.signs = signs
        connections = (0..<size).map { _ in PostgresConnection(configuration, signs) }
        self.waitTimeout = waitTimeout
        state = Mutex(PoolStateMachine(size: size))
    }

    /// Lends a session to `body`, which runs on the connection's own thread.
    ///
    /// Throws what the body throws, `connectionFailed`, `poolExhausted`, `closed`, and `CancellationError` for a wait.
    package func withSession<Result: Sendable>(_ body: @Sendable (Session) throws -> Result) async throws -> Result {
        let index = try await lease()
        defer { giveBack(index) }
        return try await connections[index].run(body)
    }

    /// Runs `body` in a transaction, which is committed when the body returns and rolled back when it throws.
    package func withTransaction<Result: Sendable>(
        _ body: @Sendable (Transaction) throws -> Result
    ) async throws -> Result {
        try await withSession { session in try Transaction.perform(on: session, body) }
    }

    /// Refuses new callers and those who wait, waits for the connections that are lent, and ends them all.
    package func close() async {
        await withCheckedContinuation { closer in
            let action = state.withLock { $0.close(closer) }
            for waiter in action.refused { waiter.resume(throwing: PostgresError(.closed)) }
            if action.isClosed { closer.resume() }
        }
        for connection in connections { await connection.close() }
    }

    /// Whether the server seemed to be away so short a time ago: a connection was lost or replaced, or work refused that
    /// was not at fault.
    ///
    /// A connection that can never be made, where the server has no room for it, says nothing of the others.
    package func sawOutage(within time: Duration) -> Bool { signs.wereSeen(within: time) }

    /// Whether locks of others were in the way so short a time ago, or a statement's time was over.
    package func sawContention(within time: Duration) -> Bool { signs.sawContention(within: time) }

    /// The number of callers that wait now.
    package var waiterCount: Int { state.withLock { $0.waiterCount } }

    private func lease() async throws -> Int {
        switch state.withLock({ $0.lease() }) {
        case .lend(let index): return index
        case .refuse: throw PostgresError(.closed)
        case .wait: return try await standInLine()
        }
    }

    private func standInLine() async throws -> Int {
        let id = state.withLock { $0.makeIdentifier() }
        async let _ = expire(id)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                switch state.withLock({ $0.enqueue(waiter, id: id) }) {
                case .lend(let index): waiter.resume(returning: index)
                case .refuse: waiter.resume(throwing: PostgresError(.closed))
                case .wait:
                    // A cancellation before this point found nobody in the line.
                    if Task.isCancelled { refuse(id, CancellationError()) }
                }
            }
        } onCancel: {
            refuse(id, CancellationError())
        }
    }

    /// Ends the waiting after the deadline; the end of the waiting cancels it.
    private func expire(_ id: UInt64) async {
        do {
            // The deadline itself: a connection that comes free goes to the waiter without this.
            try await Task.sleep(for: waitTimeout)
        } catch {
            return
        }
        refuse(id, PostgresError(.poolExhausted))
    }

    private func refuse(_ id: UInt64, _ error: any Error) {
        state.withLock { $0.remove(id) }?.resume(throwing: error)
    }

    private func giveBack(_ index: Int) {
        switch state.withLock({ $0.giveBack(index) }) {
        case .none: break
        case .lend(let index, let waiter): waiter.resume(returning: index)
        case .closed(let closers): for closer in closers { closer.resume() }
        }
    }
}
