// SPDX-License-Identifier: Apache-2.0

package import KafkaClient
package import Verification

/// Where requests come from.
package protocol RecordSource: Sendable {
    /// The records that have come, at once; nil when the source is closed or no more is to be read.
    func nextBatch(maximum: Int) async throws -> SourceBatch?

    /// Ends reading, soon: a call that waits for records and every later one get none.
    ///
    /// Commits go on.
    func stopReading()

    /// Makes known that what was read up to these positions is durable, in the order in which it was handed out, but for
    /// some records: nothing is committed past them.
    ///
    /// False when it failed: the next commit covers it, or reading it again.
    func commit(_ positions: [SourcePosition], before waiting: [WaitingRecord]) async -> Bool
}

/// Records and how far their source is read with them.
package struct SourceBatch: Sendable {
    package let records: [InboundRecord]
    let position: SourcePosition

    package init(records: [InboundRecord], batch: RecordBatch? = nil) {
        self.records = records
        position = SourcePosition(batch: batch?.withoutRecords)
    }
}

/// What is needed to commit a batch: a commit may take long, and its records are not kept for it.
package struct SourcePosition: Sendable {
    let batch: RecordBatch?
}

/// Where events and dead letters go.
package protocol RecordSink: Sendable {
    /// Where a record goes, as far as it is known: records of one destination are taken, or not, together.
    func destination(of record: OutboxRecord) -> Destination

    /// Takes records to be published, and returns when it has them.
    ///
    /// `answer` is called once for each, now or much later and from any thread, which it must not hold up: with nil
    /// when the broker has it, else with the cause.
    func publish(
        _ records: [OutboxRecord],
        _ answer: @escaping @Sendable (OutboxRecord, (any Error)?) -> Void
    ) async
}

/// The policy in force; a reload replaces it between two batches.
package typealias PolicySource = InForce<Policy>
