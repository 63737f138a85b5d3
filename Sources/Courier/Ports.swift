// SPDX-License-Identifier: Apache-2.0

package import KafkaClient
package import Verification

/// Where requests come from.
package protocol RecordSource: Sendable {
    /// The records that have come, at once; nil when the source is closed.
    func nextBatch(maximum: Int) async throws -> SourceBatch?

    /// Makes known that batches are durable. What fails is covered by the next commit, or by reading it again.
    func commit(_ batches: [SourceBatch]) async
}

/// Records and what is needed to commit them.
package struct SourceBatch: Sendable {
    package let records: [InboundRecord]
    let batch: RecordBatch?

    package init(records: [InboundRecord], batch: RecordBatch? = nil) {
        self.records = records
        self.batch = batch
    }
}

/// Where events and dead letters go.
package protocol RecordSink: Sendable {
    /// Publishes records in their order and tells which of them the broker has.
    func publish(_ records: [OutboxRecord]) async -> PublishedRecords
}

/// What became of records that were to be published.
package struct PublishedRecords: Sendable {
    package var delivered: [OutboxRecord]

    /// Why the first of the others was not taken.
    package var failure: (any Error)?

    package init(_ delivered: [OutboxRecord], failure: (any Error)? = nil) {
        self.delivered = delivered
        self.failure = failure
    }
}
