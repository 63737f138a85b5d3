// SPDX-License-Identifier: Apache-2.0

/// Reads the backlog of the whole fleet from the database.
package protocol BacklogGauge: Sendable {
    /// Counts in one statement whose cost does not grow with the backlog; throws if the database failed.
    func backlog() async throws -> Backlog
}

/// The numbers of rows that wait, each at most `Backlog.limit`.
package struct Backlog: Sendable, Equatable {
    package static let limit: Int32 = 10_000

    /// The sends that are due and claimed by no worker.
    package let dueSends: Int

    /// The outbox records that are not known to be published.
    package let outbox: Int

    /// The age of the database's oldest snapshot: rows deleted since then cannot be vacuumed.
    package let snapshotAge: Duration

    package init(dueSends: Int, outbox: Int, snapshotAge: Duration = .zero) {
        self.dueSends = dueSends
        self.outbox = outbox
        self.snapshotAge = snapshotAge
    }
}
