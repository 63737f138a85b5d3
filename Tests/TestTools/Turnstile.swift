// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Lets so many callers in at a time and the others wait in their order.
///
/// Tests start all at once: without it their pools together would ask for more connections than a server has.
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

    /// Runs `body` when there is a place for it; throws `CancellationError` where the caller is cancelled before.
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
                    // A cancellation before this point found nobody in the line.
                    giveUp(id)
                }
            }
        } onCancel: {
            giveUp(id)
        }
    }

    /// Takes a waiter that is cancelled out of the line.
    private func giveUp(_ id: Int) {
        let waiter = state.withLock { state -> Waiter? in
            guard let place = state.line.firstIndex(where: { $0.id == id }) else { return nil }
            return state.line.remove(at: place)
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }

    /// Gives the place to whoever has waited longest.
    private func leave() {
        let next = state.withLock { state -> Waiter? in
            guard state.line.isEmpty else { return state.line.removeFirst() }
            state.places += 1
            return nil
        }
        next?.continuation.resume()
    }
}
