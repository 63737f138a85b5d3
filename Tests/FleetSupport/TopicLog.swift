// SPDX-License-Identifier: Apache-2.0

package import KafkaClient
import TestSupport

/// Everything that a topic gets during a test, in the order of its partitions, each record read once.
package actor TopicLog<Entry: Sendable> {
    private let reader: TopicReader
    private let parse: @Sendable (ConsumerRecord) throws -> Entry
    private(set) var entries: [Entry] = []

    package init(
        _ topic: String,
        _ cluster: TestCluster,
        parse: @escaping @Sendable (ConsumerRecord) throws -> Entry
    ) async throws {
        reader = try await TopicReader.open(configuration: cluster.configuration, topic: topic, from: .beginning)
        self.parse = parse
    }

    /// Reads on until what has been read is enough, and returns all of it.
    package func read(
        until isEnough: ([Entry]) throws -> Bool,
        or what: @autoclosure () -> String,
        within limit: Duration
    ) async throws -> [Entry] {
        var time = OwnTime()
        while try !isEnough(entries) {
            guard time.look() < limit else { throw TimedOut(what(), after: limit) }
            try await readOn(within: .milliseconds(200))
        }
        return entries
    }

    /// Reads whatever else comes within a time.
    package func drain(for time: Duration) async throws -> [Entry] {
        let end = ContinuousClock.now + time
        while ContinuousClock.now < end { try await readOn(within: .milliseconds(100)) }
        return entries
    }

    package func close() async {
        await reader.close()
    }

    private func readOn(within time: Duration) async throws {
        let records = try await reader.next(maximum: 1000, within: time)
        // Into a value of its own first: another caller may be here meanwhile.
        let parsed = try records.map(parse)
        entries += parsed
    }
}
