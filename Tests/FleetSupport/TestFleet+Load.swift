// SPDX-License-Identifier: Apache-2.0

package import Formats
import KafkaClient
import Logs
import TestSupport
import Testing

/// A request, and a time by which the topic certainly had it.
package struct WrittenRequest: Sendable {
    package let request: TestRequest
    package let writtenAt: Timestamp
}

extension TestFleet {
    /// Publishes requests of `count` people.
    package func sendRequests(_ count: Int) async throws -> [TestRequest] {
        let requests = Numbers.take(count).map { TestRequest(phoneNumber: $0) }
        try await send(requests)
        return requests
    }

    /// Publishes requests to a partition in one batch, by a new producer with current metadata of the topic.
    package func sendRequests(_ count: Int, to partition: Int32, codec: String = "none") async throws -> [TestRequest] {
        let requests = Numbers.take(count).map { TestRequest(phoneNumber: $0) }
        watch(requests.map(\.phoneNumber))
        let options = ["compression.codec": codec, "linger.ms": "100"]
        let producer = try KafkaProducer(
            configuration: KafkaConfiguration(bootstrapServers: cluster.bootstrapServers, options: options)
        )
        async let running: Void = producer.run()
        let results = await producer.send(
            requests.map {
                ProducerRecord(topic: topics.requests, key: nil, value: Array($0.json.utf8), partition: partition)
            }
        )
        await producer.close(within: .seconds(5))
        try await running
        #expect(results.allSatisfy { if case .delivered = $0 { true } else { false } })
        return requests
    }

    /// Sends two requests every 100 ms while the body runs.
    ///
    /// No request waits for an earlier one, so an unavailable broker delays only the requests of its own partitions.
    package func underLoad(_ body: () async throws -> Void) async throws -> [WrittenRequest] {
        try await withThrowingTaskGroup(of: [WrittenRequest].self) { group in
            group.addTask { try await self.load() }
            try await body()
            group.cancelAll()
            return try await group.next() ?? []
        }
    }

    /// Sends requests until it is cancelled, then waits for those in flight.
    private func load() async throws -> [WrittenRequest] {
        try await withThrowingTaskGroup(of: [WrittenRequest].self) { group in
            while !Task.isCancelled {
                group.addTask {
                    let requests = try await self.sendRequests(2)
                    return requests.map { WrittenRequest(request: $0, writtenAt: .now) }
                }
                // A faster load starves starting brokers on two cores.
                try? await Task.sleep(for: .milliseconds(100))
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Expects one message and one `sent` event for each request, and no log line about lost records.
    package func expectOne(of requests: [TestRequest], within limit: Duration = .seconds(60)) async throws {
        _ = try await events(of: requests.map(\.id), within: limit)
        let ids = Set(requests.map(\.id))
        let events = try await allEvents(after: .seconds(1)).filter { ids.contains($0.body.requestId) }
        let answers = Dictionary(grouping: events, by: \.body.requestId).mapValues { Set($0.map(\.id)).count }
        #expect(answers.count == requests.count && answers.values.allSatisfy { $0 == 1 })
        #expect(events.allSatisfy { $0.answer == Answer("sent") })
        let messages = messages
        #expect(requests.allSatisfy { messages[$0.phoneNumber]?.count == 1 })
        #expect(!workers.contains { $0.logged.contains("kafka.records_lost") })
    }

    /// The longest time from a request's record to its message.
    package func longestWait(of requests: [WrittenRequest]) -> Duration {
        let messages = messages
        return requests.compactMap { written in
            messages[written.request.phoneNumber]?.first.flatMap { Timestamp(rfc3339: $0.time) }
                .map { $0 - written.writtenAt }
        }.max() ?? .zero
    }
}
