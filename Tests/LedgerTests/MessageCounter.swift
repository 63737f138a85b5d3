// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestTools

/// A proxy before the test server that counts what clients ask for: statements and round trips.
///
/// A message of the protocol after the first is one byte of type, four of length, which they count in, and the rest. An
/// `E` (Execute) runs a statement, and an `S` (Sync) asks for the answers: one round trip. One that runs nothing prepares
/// statements, once a session, and is not counted.
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

        /// Counts what comes on one connection, before the server can answer.
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

    /// Lends a counter before the server of a URI.
    static func with<Result>(_ url: String, _ body: (MessageCounter) async throws -> Result) async throws -> Result {
        let count = Shared()
        return try await CuttableProxy.with(to: url, listener: count.listen) { proxy in
            try await body(MessageCounter(url: proxy.url, count))
        }
    }

    /// What a piece of work asks the server for.
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

/// Finds the messages in what a client sends, whose reads may end anywhere.
private struct MessageReader {
    /// Bytes of the head of the message that is being read; the connection's first message has no type.
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
