// SPDX-License-Identifier: Apache-2.0

/// What the whole fleet has left to do, as the database tells it.
package protocol BacklogGauge: Sendable {
    /// Counts in one statement whose cost does not grow with the backlog. Errors mean that the database failed.
    func backlog() async throws -> Backlog
}

/// Counts of rows that wait, each at most `Backlog.limit`.
package struct Backlog: Sendable, Equatable {
    package static let limit: Int32 = 10_000

    /// Sends that nobody holds and that are due.
    package let dueSends: Int

    /// Records that are not known to be published.
    package let outbox: Int

    /// For how long the database's oldest snapshot has stood; what was deleted since is still there.
    package let snapshotAge: Duration

    package init(dueSends: Int, outbox: Int, snapshotAge: Duration = .zero) {
        self.dueSends = dueSends
        self.outbox = outbox
        self.snapshotAge = snapshotAge
    }
}
