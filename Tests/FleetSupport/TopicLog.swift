// SPDX-License-Identifier: Apache-2.0

package import KafkaClient
import KafkaTools
import TestSupport
import TestTools

/// All records of a topic during a test, in the order of each partition, each read once.
///
/// The mock cluster keeps about 5 MiB per partition. A record that it drops before it is read is an error here, since
/// the test would otherwise report it as never written.
package actor TopicLog<Entry: Sendable> {
    /// The error for records that the cluster has dropped.
    package struct Dropped: Error, CustomStringConvertible {
        let topic: String
        let partition: Int32
        let offsets: Range<Int64>

        package var description: String {
            "the cluster has dropped \(topic)/\(partition)@\(offsets) before it was read: read while the test goes on"
        }
    }

    private let topic: String
    private let reader: TopicReader
    private let parse: @Sendable (ConsumerRecord) throws -> Entry
    private(set) var entries: [Entry] = []

    /// The offset after the last record read, by partition.
    private var ends: [Int32: Int64] = [:]

    package init(
        _ topic: String,
        _ cluster: TestCluster,
        parse: @escaping @Sendable (ConsumerRecord) throws -> Entry
    ) async throws {
        self.topic = topic
        reader = try await TopicReader.open(configuration: cluster.configuration, topic: topic, from: .beginning)
        self.parse = parse
    }

    /// Reads until the records are enough, and returns all of them.
    package func read(
        until isEnough: ([Entry]) throws -> Bool,
        or what: @autoclosure () -> String,
        within limit: Duration
    ) async throws -> [Entry] {
        var time = OwnTime()
        while try !isEnough(entries) {
            guard time.look() < limit else { throw TimedOut(what(), after: limit) }
            try Task.checkCancellation()
            try await readOn(within: .milliseconds(200))
        }
        return entries
    }

    /// Reads the records that arrive within a time, and returns all so far.
    package func drain(for time: Duration) async throws -> [Entry] {
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end {
            try Task.checkCancellation()
            try await readOn(within: .milliseconds(100))
        }
        return entries
    }

    package func close() async {
        await reader.close()
    }

    private func readOn(within time: Duration) async throws {
        let records = try await reader.next(maximum: 1000, within: time)
        for record in records {
            let end = ends[record.partition, default: 0]
            guard record.offset <= end else {
                throw Dropped(topic: topic, partition: record.partition, offsets: end..<record.offset)
            }
            ends[record.partition] = record.offset + 1
        }
        entries += try records.map(parse)
    }
}
