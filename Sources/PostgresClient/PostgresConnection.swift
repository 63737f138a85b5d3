// SPDX-License-Identifier: Apache-2.0

import PinnedThread

/// One connection with a thread of its own, on which libpq may block.
///
/// It connects at its first use, and again whenever the last use left no clean connection.
package actor PostgresConnection {
    private let thread = PinnedThread()
    private let configuration: PostgresConfiguration
    private let signs: OutageSigns
    private var session: Session?

    /// Whether the next session stands in for one that was lost, or that could not be made.
    private var isReplacing = false

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    package init(_ configuration: PostgresConfiguration) {
        self.init(configuration, OutageSigns())
    }

    /// A connection that tells its pool of signs of an outage.
    init(_ configuration: PostgresConfiguration, _ signs: OutageSigns) {
        self.configuration = configuration
        self.signs = signs
    }

    /// Lends the session to `body`, on the connection's thread; a transaction that the body leaves open is rolled back.
    package func run<Result: Sendable>(_ body: @Sendable (Session) throws -> Result) throws -> Result {
        let session = try openSession()
        defer { if !session.isReusable { lose() } }
        do {
            return try body(session)
        } catch {
            if let error = error as? PostgresError {
                if error.isOutage { signs.note() }
                if error.isContention { signs.noteContention() }
            }
            throw error
        }
    }

    /// Ends the session; a later use connects again.
    package func close() {
        session = nil
    }

    private func openSession() throws(PostgresError) -> Session {
        if let session {
            if session.isAlive() { return session }
            // The old connection ends before the new one starts, so that a pool never holds more than its size.
            lose()
        }
        let isReplacement = isReplacing
        isReplacing = true
        let opened = try Session(configuration)
        isReplacing = false
        if isReplacement { signs.note() }
        session = opened
        return opened
    }

    private func lose() {
        session = nil
        isReplacing = true
        signs.note()
    }
}
