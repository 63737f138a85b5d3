// SPDX-License-Identifier: Apache-2.0

package import Formats
package import KafkaClient
package import Verification

/// A source of requests or receipts.
package protocol RecordSource: Sendable {
    /// Returns the records that have arrived; nil when the source is closed or reading has ended.
    func nextBatch(maximum: Int) async throws -> SourceBatch?

    /// Ends reading: the current call of `nextBatch` and all later ones return nil.
    ///
    /// Commits still work.
    func stopReading()

    /// The part of the topic's partitions that this worker reads, 0 to 1; nil if it is unknown.
    func ownedShare() async -> Double?

    /// Commits positions, in the order in which they were handed out, except past the `waiting` records.
    ///
    /// False when it failed: a later commit covers it, or the records are read again.
    func commit(_ positions: [SourcePosition], before waiting: [WaitingRecord]) async -> Bool
}

/// A batch of records and the read position behind it.
package struct SourceBatch: Sendable {
    package let records: [InboundRecord]
    let position: SourcePosition

    package init(records: [InboundRecord], batch: RecordBatch? = nil) {
        self.records = records
        position = SourcePosition(batch: batch?.withoutRecords)
    }
}

/// The part of a batch that its commit needs: a commit may take long, and should not retain the records.
package struct SourcePosition: Sendable {
    let batch: RecordBatch?
}

/// A publisher of events and dead letters.
package protocol RecordSink: Sendable {
    /// The destination of a record, as far as it is known.
    ///
    /// Records of one destination succeed or fail together.
    func destination(of record: OutboxRecord) -> Destination

    /// Queues records for publication, and returns once they are queued.
    ///
    /// `answer` is called once for each record, at any time, on any thread, which it must not block. Its error is nil
    /// when the broker has acknowledged the record.
    func publish(
        _ records: [OutboxRecord],
        _ answer: @escaping @Sendable (OutboxRecord, (any Error)?) -> Void
    ) async
}

/// The current policy, which a reload replaces between two batches.
package typealias PolicySource = InForce<Policy>
