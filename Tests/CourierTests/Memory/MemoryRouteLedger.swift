// SPDX-License-Identifier: Apache-2.0

import Formats
import Synchronization
import Verification

/// The shares of adaptive routes in memory.
final class MemoryRouteLedger: RouteLedger {
    struct Failure: Error {}

    struct State: Sendable {
        var shares = RouteShares()
        var version: Int64 = 0
        var hours = ConversionCounts()
        var reads = 0
        var isFailing = false

        /// False if another worker is the reader.
        var accepts = true
    }

    private let state = Mutex(State())

    func with<Value: Sendable>(_ body: (inout State) -> Value) -> Value { state.withLock { body(&$0) } }

    private func answer<Value: Sendable>(_ body: (inout State) -> Value) throws -> Value {
        try state.withLock { state in
            if state.isFailing { throw Failure() }
            return body(&state)
        }
    }

    func routesVersion() async throws -> Int64 { try answer(\.version) }

    func routeShares() async throws -> RouteShares {
        try answer { state in
            state.reads += 1
            return state.shares
        }
    }

    func routeHours(since: Timestamp) async throws -> ConversionCounts { try answer(\.hours) }

    func store(_ shares: RouteShares, by reader: UUIDValue) async throws -> Bool {
        try answer { state in
            guard state.accepts else { return false }
            state.shares = shares
            state.version += 1
            return true
        }
    }
}
