// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestTools

/// Counts the statements and round trips of clients, as a proxy in front of the test server.
///
/// Each message of the protocol after the first has one byte of type, four bytes of length (which include themselves)
/// and a body. `E` (Execute) runs a statement, and `S` (Sync) requests the answers: one round trip. A round trip
/// without an Execute only prepares statements, once per session, and is not counted.
final class MessageCounter: Sendable {
    struct Count: Equatable, CustomStringConvertible {
        var statements = 0
        var roundTrips = 0
        fileprivate var hasExecuted = false

        var description: String { "\(statements) statements in \(roundTrips) round trips" }
    }

    let url: String
    private let count: Shared

    private final class Shared: Sendable {
        let count = Mutex(Count())

        /// Counts the messages of one connection before the server can answer them.
        func listen() -> CuttableProxy.Listener {
            let reader = Reading()
            return { bytes in
                reader.state.withLock { reader in
                    reader.read(bytes) { type in self.count.withLock { $0.add(type) } }
                }
                return nil
            }
        }
    }

    private final class Reading: Sendable {
        let state = Mutex(MessageReader())
    }

    private init(url: String, _ count: Shared) {
        (self.url, self.count) = (url, count)
    }

    /// Provides a counting proxy in front of a URI's server.
    static func with<Result>(_ url: String, _ body: (MessageCounter) async throws -> Result) async throws -> Result {
        let count = Shared()
        return try await CuttableProxy.with(to: url, listener: count.listen) { proxy in
            try await body(MessageCounter(url: proxy.url, count))
        }
    }

    /// Counts the statements and round trips of a piece of work.
    func measure(_ work: () async throws -> Void) async throws -> Count {
        let before = count.count.withLock(\.self)
        try await work()
        let after = count.count.withLock(\.self)
        return Count(
            statements: after.statements - before.statements,
            roundTrips: after.roundTrips - before.roundTrips
        )
    }
}

extension MessageCounter.Count {
    fileprivate mutating func add(_ type: UInt8) {
        switch type {
        case UInt8(ascii: "E"):
            statements += 1
            hasExecuted = true
        case UInt8(ascii: "S"):
            if hasExecuted { roundTrips += 1 }
            hasExecuted = false
        default: break
        }
    }
}

/// Finds the messages in a client's bytes, which arrive in reads of any length.
private struct MessageReader {
    /// Bytes of the current message's head.
    ///
    /// The first message of a connection has no type byte.
    private var head: [UInt8] = [0]
    private var remaining = 0

    mutating func read(_ bytes: [UInt8], _ found: (UInt8) -> Void) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let skipped = min(remaining, rest.count)
            rest = rest.dropFirst(skipped)
            remaining -= skipped
            guard remaining == 0, let next = rest.popFirst() else { continue }
            head.append(next)
            guard head.count == 5 else { continue }
            found(head[0])
            remaining = max(0, head.dropFirst().reduce(0) { $0 << 8 | Int($1) } - 4)
            head = []
        }
    }
}
