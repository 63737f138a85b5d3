// SPDX-License-Identifier: Apache-2.0

/// The records that a producer was given and has no result for, in the order of sending.
///
/// A token tells a record among all: the number of its batch and its place in it.
struct Backlog {
    /// A batch whose records all have a result.
    struct Finished {
        let number: Int
        let results: [DeliveryResult]
    }

    private struct Batch {
        let records: [ProducerRecord]
        var results: [DeliveryResult?]
        var open: Int
    }

    private static let indexBits = 24

    private var batches: [Int: Batch] = [:]
    private var lastBatch = 0

    /// The next record to hand to the client; batches before it were handed over whole.
    private var cursor = (batch: 1, index: 0)

    /// The most records that a batch may have.
    static let maximumCount = 1 << indexBits - 1

    var isEmpty: Bool { batches.isEmpty }

    /// True while a record was not handed to the client yet.
    var hasWaiting: Bool { cursor.batch <= lastBatch }

    /// Adds a batch, which must not be empty, and returns its number.
    mutating func append(_ records: [ProducerRecord]) -> Int {
        lastBatch += 1
        batches[lastBatch] = Batch(
            records: records,
            results: Array(repeating: nil, count: records.count),
            open: records.count
        )
        return lastBatch
    }

    /// The next record to hand over, which stays the next until `advance()`.
    var next: (record: ProducerRecord, token: Int)? {
        guard let batch = batches[cursor.batch] else { return nil }
        return (batch.records[cursor.index], cursor.batch << Self.indexBits | cursor.index)
    }

    /// Goes on to the record after; before the result of the one before it is given, which may end its batch.
    mutating func advance() {
        guard let batch = batches[cursor.batch] else { return }
        cursor.index += 1
        if cursor.index == batch.records.count { cursor = (cursor.batch + 1, 0) }
    }

    /// Keeps a record's result; returns the batch when that was its last.
    mutating func finish(_ token: Int, _ result: DeliveryResult) -> Finished? {
        let number = token >> Self.indexBits
        let index = token & Self.maximumCount
        guard var batch = batches.removeValue(forKey: number) else { return nil }
        if batch.results.indices.contains(index), batch.results[index] == nil {
            batch.results[index] = result
            batch.open -= 1
        }
        if batch.open == 0 { return Finished(number: number, results: batch.results.compactMap(\.self)) }
        batches[number] = batch
        return nil
    }

    /// Fails all that has no result.
    mutating func failAll(_ error: KafkaError) -> [Finished] {
        let finished = batches.sorted { $0.key < $1.key }.map { number, batch in
            Finished(number: number, results: batch.results.map { $0 ?? .failed(error) })
        }
        batches = [:]
        cursor = (lastBatch + 1, 0)
        return finished
    }
}
