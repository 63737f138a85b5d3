// SPDX-License-Identifier: Apache-2.0

import PinnedThread

/// One connection with a thread of its own, on which libpq may block.
///
/// It connects at its first use, and again whenever the last use left no clean connection.
package actor PostgresConnection {
    private let thread = PinnedThread()
    private let configuration: PostgresConfiguration
    private var session: Session?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    package init(_ configuration: PostgresConfiguration) {
        self.configuration = configuration
    }

    /// Lends the session to `body`, on the connection's thread; a transaction that the body leaves open is rolled back.
    package func run<Result: Sendable>(_ body: @Sendable (Session) throws -> Result) throws -> Result {
        let session = try openSession()
        defer { if !session.isReusable { self.session = nil } }
        return try body(session)
    }

    /// Ends the session; a later use connects again.
    package func close() {
        session = nil
    }

    private func openSession() throws(PostgresError) -> Session {
        if let session, session.isAlive() { return session }
        // The old connection ends before the new one starts, so that a pool never holds more than its size.
        session = nil
        let opened = try Session(configuration)
        session = opened
        return opened
    }
}
