// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Limits the number of concurrent callers; the others wait in order.
///
/// Tests all start at once, and without a limit their pools would open more connections than a server allows.
package final class Turnstile: Sendable {
    private struct State {
        var places: Int
        var line: [Waiter] = []
        var lastID = 0
    }

    private struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let state: Mutex<State>

    package init(places: Int) {
        state = Mutex(State(places: places))
    }

    /// Runs `body` once there is a place for it; throws `CancellationError` if the caller is cancelled before.
    package func pass<Result>(_ body: () async throws -> Result) async throws -> Result {
        try await enter()
        defer { leave() }
        return try await body()
    }

    private func enter() async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isIn = state.withLock { state in
                    guard state.places == 0 else {
                        state.places -= 1
                        return true
                    }
                    state.line.append(Waiter(id: id, continuation: continuation))
                    return false
                }
                if isIn {
                    continuation.resume()
                } else if Task.isCancelled {
                    // The cancellation ran before this waiter was in the queue, so it removed nothing.
                    giveUp(id)
                }
            }
        } onCancel: {
            giveUp(id)
        }
    }

    /// Removes a cancelled waiter from the queue.
    private func giveUp(_ id: Int) {
        let waiter = state.withLock { state -> Waiter? in
            guard let place = state.line.firstIndex(where: { $0.id == id }) else { return nil }
            return state.line.remove(at: place)
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }

    /// Passes the place to the longest waiter.
    private func leave() {
        let next = state.withLock { state -> Waiter? in
            guard state.line.isEmpty else { return state.line.removeFirst() }
            state.places += 1
            return nil
        }
        next?.continuation.resume()
    }
}
