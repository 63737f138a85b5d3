// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Wakes every event stream.
///
/// A signal carries no data: a stream that wakes reads the new changes from the inbox, so a slow reader costs one
/// pending signal and no queue.
final class Broadcast: Sendable {
    /// A stream of signals, and the id with which to end it.
    struct Subscription: Sendable {
        let identifier: Int
        let signals: AsyncStream<Void>
    }

    private struct State {
        var nextIdentifier = 0
        var continuations: [Int: AsyncStream<Void>.Continuation] = [:]
    }

    /// The maximum number of open streams.
    static let capacity = 64

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.continuations.count } }

    var isFull: Bool { count >= Self.capacity }

    /// Creates a subscription; `nil` at the maximum.
    func subscribe() -> Subscription? {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let identifier: Int? = state.withLock { state in
            guard state.continuations.count < Self.capacity else { return nil }
            state.nextIdentifier += 1
            state.continuations[state.nextIdentifier] = continuation
            return state.nextIdentifier
        }
        return identifier.map { Subscription(identifier: $0, signals: signals) }
    }

    func unsubscribe(_ subscription: Subscription) {
        let continuation = state.withLock { $0.continuations.removeValue(forKey: subscription.identifier) }
        continuation?.finish()
    }

    func signal() {
        let continuations = state.withLock { Array($0.continuations.values) }
        for continuation in continuations { continuation.yield() }
    }
}
