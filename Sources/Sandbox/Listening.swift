// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The ports of the servers, for callers that wait until they are bound.
final class Listening: Sendable {
    struct Ports: Sendable {
        let http: Int
        let smtp: Int
    }

    private enum State {
        case waiting([Int: CheckedContinuation<Ports, any Error>], nextWaiter: Int)
        case listening(Ports)
        case ended(any Error)
    }

    private let state = Mutex<State>(.waiting([:], nextWaiter: 0))

    /// Suspends until the ports are known; throws the error of the start, or `CancellationError`.
    func ports() async throws -> Ports {
        let waiter = state.withLock { state in
            guard case .waiting(let waiters, let next) = state else { return 0 }
            state = .waiting(waiters, nextWaiter: next + 1)
            return next
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                register(continuation, as: waiter)
            }
        } onCancel: {
            abandon(waiter)
        }
    }

    func begin(_ ports: Ports) {
        for waiter in settle(.listening(ports)) { waiter.resume(returning: ports) }
    }

    func end(with error: any Error) {
        for waiter in settle(.ended(error)) { waiter.resume(throwing: error) }
    }

    /// Stores the continuation, or resumes it at once when the result is known or its task is cancelled.
    private func register(_ continuation: CheckedContinuation<Ports, any Error>, as waiter: Int) {
        let answer: Result<Ports, any Error>? = state.withLock { state in
            switch state {
            case .listening(let ports): return .success(ports)
            case .ended(let error): return .failure(error)
            case .waiting(var waiters, let next):
                // If the task was cancelled earlier, the cancellation handler has already run without this
                // continuation.
                if Task.isCancelled { return .failure(CancellationError()) }
                waiters[waiter] = continuation
                state = .waiting(waiters, nextWaiter: next)
                return nil
            }
        }
        if let answer { continuation.resume(with: answer) }
    }

    private func abandon(_ waiter: Int) {
        let continuation: CheckedContinuation<Ports, any Error>? = state.withLock { state in
            guard case .waiting(var waiters, let next) = state else { return nil }
            let continuation = waiters.removeValue(forKey: waiter)
            state = .waiting(waiters, nextWaiter: next)
            return continuation
        }
        continuation?.resume(throwing: CancellationError())
    }

    private func settle(_ newState: State) -> [CheckedContinuation<Ports, any Error>] {
        state.withLock { state in
            defer { state = newState }
            guard case .waiting(let waiters, _) = state else { return [] }
            return Array(waiters.values)
        }
    }
}
