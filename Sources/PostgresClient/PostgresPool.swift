// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A fixed number of connections, each leased to one caller at a time, in the order of the requests.
///
/// A waiting caller gives up after the wait timeout, or when its task is cancelled. A free connection is leased to a
/// cancelled task, too, so that a worker can still write its results during a shutdown.
package final class PostgresPool: Sendable {
    private typealias Waiter = CheckedContinuation<Int, any Error>
    private typealias Closer = CheckedContinuation<Void, Never>

    private let connections: [PostgresConnection]
    private let signs: OutageSigns
    private let waitTimeout: Duration
    private let state: Mutex<PoolStateMachine<Waiter, Closer>>

    /// Makes a pool that connects at first use; a size below 1 counts as 1.
    package init(_ configuration: PostgresConfiguration, size: Int = 4, waitTimeout: Duration = .seconds(10)) {
        let size = max(1, size)
        let signs = OutageSigns()
        self.signs = signs
        connections = (0..<size).map { _ in PostgresConnection(configuration, signs) }
        self.waitTimeout = waitTimeout
        state = Mutex(PoolStateMachine(size: size))
    }

    /// Leases a session to `body`, which runs on the connection's own thread.
    ///
    /// Throws the errors of the body, `connectionFailed`, `poolExhausted` and `closed`, and `CancellationError` when a
    /// wait is cancelled.
    package func withSession<Result: Sendable>(_ body: @Sendable (Session) throws -> Result) async throws -> Result {
        let index = try await lease()
        defer { release(index) }
        return try await connections[index].run(body)
    }

    /// Runs `body` in a transaction, which is committed when the body returns and rolled back when it throws.
    package func withTransaction<Result: Sendable>(
        _ body: @Sendable (Transaction) throws -> Result
    ) async throws -> Result {
        try await withSession { session in try Transaction.perform(on: session, body) }
    }

    /// Refuses current and later waiters, waits until all leased connections are returned, and closes them.
    package func close() async {
        await withCheckedContinuation { closer in
            let action = state.withLock { $0.close(closer) }
            for waiter in action.refused { waiter.resume(throwing: PostgresError(.closed)) }
            if action.isClosed { closer.resume() }
        }
        for connection in connections { await connection.close() }
    }

    /// True after a sign of a server outage within the given time.
    ///
    /// A sign is a lost or replaced connection, or an error that is not the fault of the work. A connection that could
    /// never be opened, since the server is at its limit, is no sign.
    package func sawOutage(within time: Duration) -> Bool { signs.occurred(within: time) }

    /// True after a lock conflict or a statement timeout within the given time.
    package func sawContention(within time: Duration) -> Bool { signs.sawContention(within: time) }

    package var waiterCount: Int { state.withLock { $0.waiterCount } }

    private func lease() async throws -> Int {
        switch state.withLock({ $0.lease() }) {
        case .lend(let index): return index
        case .refuse: throw PostgresError(.closed)
        case .wait: return try await enqueueWaiter()
        }
    }

    private func enqueueWaiter() async throws -> Int {
        let id = state.withLock { $0.makeIdentifier() }
        async let _ = expire(id)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                switch state.withLock({ $0.enqueue(waiter, id: id) }) {
                case .lend(let index): waiter.resume(returning: index)
                case .refuse: waiter.resume(throwing: PostgresError(.closed))
                case .wait:
                    // A cancellation before this point found no waiter in the queue.
                    if Task.isCancelled { refuse(id, CancellationError()) }
                }
            }
        } onCancel: {
            refuse(id, CancellationError())
        }
    }

    /// Ends a wait at the timeout; the end of the wait cancels this task.
    private func expire(_ id: UInt64) async {
        do {
            // Only the timeout: a returned connection resumes the waiter directly.
            try await Task.sleep(for: waitTimeout)
        } catch {
            return
        }
        refuse(id, PostgresError(.poolExhausted))
    }

    private func refuse(_ id: UInt64, _ error: any Error) {
        state.withLock { $0.remove(id) }?.resume(throwing: error)
    }

    private func release(_ index: Int) {
        switch state.withLock({ $0.release(index) }) {
        case .none: break
        case .lend(let index, let waiter): waiter.resume(returning: index)
        case .closed(let closers): for closer in closers { closer.resume() }
        }
    }
}
