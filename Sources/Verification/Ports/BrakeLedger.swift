// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The store of the toll-fraud brake: conversions, blocks and operators' orders.
///
/// Each method is one transaction. An error means that the database failed.
package protocol BrakeLedger: Sendable {
    // MARK: Every worker

    func brakeStatus() async throws -> BrakeStatus

    func brakeBoard() async throws -> BrakeBoard

    /// Adds stopped requests, summed by scope, to their blocks.
    func add(_ refusals: [BrakeRefusal]) async throws

    // MARK: The one reader

    /// Acquires or renews the role of the fleet's reader; nil while another worker has it.
    ///
    /// Another worker takes over after the lease, unless the call is repeated. `judgedTo` is the time up to which the
    /// reader has judged verifications, nil before its first round.
    func elect(_ reader: UUIDValue, lease: Duration, judgedTo: Timestamp?) async throws -> ReaderTurn?

    /// Lets another worker take over at once.
    func resign(_ reader: UUIDValue) async throws

    /// The phone verifications that began in a range of time, by tenant.
    func conversions(from: Timestamp, to: Timestamp) async throws -> [String: [ConversionSample]]

    /// The blocks in force, and those that ended within a day, which count as earlier trips.
    func brakeBlocks() async throws -> [TenantBlock]

    /// The scopes with a block in force, each with the time of its last refused request.
    ///
    /// A block that is missing here has been lifted.
    func blocksInForce() async throws -> [BrakeTurn: Timestamp?]

    /// Stores blocks as they are now; false if another worker is the reader.
    ///
    /// A block that an operator has lifted meanwhile stays lifted until its scope trips again.
    func store(_ blocks: [TenantBlock], by reader: UUIDValue) async throws -> Bool

    /// The launches in force that have a maximum and messages left.
    func launches() async throws -> [BrakeLaunch]

    /// Stores how many messages launches have used; false if another worker is the reader.
    ///
    /// One that an operator has announced anew meanwhile stays as it is.
    func store(_ launches: [BrakeLaunch], by reader: UUIDValue) async throws -> Bool

    /// The counts of the hours since a time, of all providers together.
    func conversionHours(since: Timestamp) async throws -> ConversionCounts

    /// Adds counts of all verifications from a time, nil for none counted yet, up to another.
    ///
    /// False if another worker is the reader, or later ones are counted, as after a commit whose answer was lost.
    func add(
        _ counts: ConversionCounts,
        from start: Timestamp?,
        upTo end: Timestamp,
        by reader: UUIDValue
    ) async throws -> Bool
}

/// The state that workers read every two seconds.
package struct BrakeStatus: Sendable, Equatable {
    /// The board's version, incremented by every change.
    package let version: Int64

    /// The age of the youngest verification that is judged; nil before the first judgement.
    package let lag: Duration?

    package init(version: Int64, lag: Duration?) {
        self.version = version
        self.lag = lag
    }
}

/// The turn of the fleet's reader, from its election until it resigns or its lease expires.
package struct ReaderTurn: Sendable, Equatable {
    /// The database's time.
    package let now: Timestamp

    /// The time up to which verifications are counted; nil if there are no counts.
    package let countedTo: Timestamp?

    package init(now: Timestamp, countedTo: Timestamp?) {
        self.now = now
        self.countedTo = countedTo
    }
}

/// A block and its tenant.
package struct TenantBlock: Sendable, Equatable {
    package let tenant: String
    package let block: BrakeBlock

    /// True while the tenant has too few approvals for a verdict: the block then only records.
    package let isAsleep: Bool

    package init(tenant: String, block: BrakeBlock, isAsleep: Bool) {
        self.tenant = tenant
        self.block = block
        self.isAsleep = isAsleep
    }

    package var turn: BrakeTurn { BrakeTurn(tenant: tenant, key: block.key) }
}
