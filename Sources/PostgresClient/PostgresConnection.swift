// SPDX-License-Identifier: Apache-2.0

import PinnedThread

/// One connection with a thread of its own, which libpq may block.
///
/// It connects at its first use, and again when the last use left the connection unusable.
package actor PostgresConnection {
    private let thread = PinnedThread()
    private let configuration: PostgresConfiguration
    private let signs: OutageSigns
    private var session: Session?

    /// True when the next session replaces one that was lost, or that could not be opened.
    private var isReplacing = false

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    package init(_ configuration: PostgresConfiguration) {
        self.init(configuration, OutageSigns())
    }

    /// Makes a connection that reports outages and lock conflicts to its pool.
    init(_ configuration: PostgresConfiguration, _ signs: OutageSigns) {
        self.configuration = configuration
        self.signs = signs
    }

    /// Runs `body` with the session on the connection's thread; rolls back a transaction that the body leaves open.
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
            // Close the old connection before the new one is opened, so that a pool never exceeds its size.
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
