// SPDX-License-Identifier: Apache-2.0

package import KafkaClient

/// Everything that a topic gets during a test, in the order of its partitions.
package actor TopicLog {
    private let reader: TopicReader
    private(set) var records: [ConsumerRecord] = []

    package init(_ topic: String, _ cluster: TestCluster) async throws {
        reader = try await TopicReader.open(configuration: cluster.configuration, topic: topic, from: .beginning)
    }

    /// Reads on until what has been read is enough, and returns all of it.
    package func read(
        until isEnough: ([ConsumerRecord]) throws -> Bool,
        or what: @autoclosure () -> String,
        within limit: Duration
    ) async throws -> [ConsumerRecord] {
        let end = ContinuousClock.now + limit
        while try !isEnough(records) {
            guard ContinuousClock.now < end else { throw TimedOut(what(), after: limit) }
            records += try await reader.next(maximum: 1000, within: .milliseconds(200))
        }
        return records
    }

    /// Reads whatever else comes within a time.
    package func drain(for time: Duration) async throws -> [ConsumerRecord] {
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end {
            records += try await reader.next(maximum: 1000, within: .milliseconds(100))
        }
        return records
    }

    package func close() async {
        await reader.close()
    }
}
