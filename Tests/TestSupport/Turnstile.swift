// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Lets so many callers in at a time and the others wait in their order.
///
/// Tests start all at once: without it their pools together would ask for more connections than a server has.
package final class Turnstile: Sendable {
    private struct State {
        var places: Int
        var line: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    package init(places: Int) {
        state = Mutex(State(places: places))
    }

    /// Runs `body` when there is a place for it.
    package func pass<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        await enter()
        defer { leave() }
        return try await body()
    }

    private func enter() async {
        await withCheckedContinuation { waiter in
            let isIn = state.withLock { state in
                guard state.places == 0 else {
                    state.places -= 1
                    return true
                }
                state.line.append(waiter)
                return false
            }
            if isIn { waiter.resume() }
        }
    }

    /// Gives the place to whoever has waited longest.
    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.line.isEmpty else { return state.line.removeFirst() }
            state.places += 1
            return nil
        }
        next?.resume()
    }
}
