// SPDX-License-Identifier: Apache-2.0

package import KafkaClient
import KafkaSupport
import KafkaTools
import Synchronization
import Testing

extension TestFleet {
    /// The committed offsets of a topic by partition; by default the workers' own, in the topic of requests.
    package func committedOffsets(of topic: String? = nil, by group: String? = nil) async throws -> [Int32: Int64] {
        let topic = topic ?? topics.requests
        let partitions = try await KafkaAdmin.partitionCount(of: topic, configuration: cluster.configuration)
        return try await KafkaAdmin.committedOffsets(
            of: group ?? "\(topic).group",
            topic: topic,
            partitions: partitions,
            configuration: cluster.configuration
        )
    }

    /// Publishes records in order, by default to the topic of requests, and returns their positions.
    @discardableResult
    package func send(
        _ records: [TestRecord],
        to topic: String? = nil
    ) async throws -> [(partition: Int32, offset: Int64)] {
        let results = await producer.send(
            records.map {
                ProducerRecord(
                    topic: topic ?? $0.topic ?? topics.requests,
                    key: $0.keyBytes ?? $0.key.map { Array($0.utf8) },
                    value: $0.value,
                    headers: $0.headers,
                    partition: $0.partition
                )
            }
        )
        return try results.map { result in
            switch result {
            case .delivered(let partition, let offset): (partition, offset)
            case .failed(let error): throw error
            }
        }
    }

    package func send(_ requests: TestRequest...) async throws {
        try await send(requests)
    }

    package func send(_ requests: [TestRequest]) async throws {
        watch(requests.map(\.phoneNumber))
        try await send(requests.map(\.binary))
    }

    /// Adds numbers that no log and no event may show.
    package func watch(_ numbers: [String]) {
        state.withLock { $0.numbers.formUnion(numbers) }
    }

    /// The events of the requests, once there are `count` for each.
    package func events(
        of requests: [String],
        each count: Int = 1,
        within limit: Duration = .seconds(30)
    ) async throws -> [Event] {
        let wanted = Set(requests)
        var found: [String: Set<String>] = [:]
        var seen = 0
        let events = try await deliveries.read(
            until: { events in
                for event in events[seen...] where wanted.contains(event.body.requestId) && !event.isPending {
                    found[event.body.requestId, default: []].insert(event.id)
                }
                seen = events.count
                return found.count == wanted.count && found.values.allSatisfy { $0.count >= count }
            },
            or:
                "\(count) events for \(wanted.count) requests; there are \(found.count) with \(found.values.map(\.count).min() ?? 0) or more",
            within: limit
        )
        return events.filter { wanted.contains($0.body.requestId) && !$0.isPending }
    }

    /// The only event of a request.
    package func event(of request: TestRequest, within limit: Duration = .seconds(30)) async throws -> Event {
        let events = try await events(of: [request.id], within: limit)
        #expect(events.count == 1, "\(events.map(\.answer))")
        return try #require(events.first)
    }

    /// The event which says that a request's message has not left yet.
    package func pendingEvent(of request: TestRequest) async throws -> Event {
        func isMeant(_ event: Event) -> Bool { event.isPending && event.body.requestId == request.id }
        let events = try await deliveries.read(
            until: { $0.contains(where: isMeant) },
            or: "a pending event of \(request.id)",
            within: .seconds(30)
        )
        return try #require(events.first(where: isMeant))
    }

    /// All events so far, and those that arrive within a time from now.
    package func allEvents(after time: Duration = .seconds(1)) async throws -> [Event] {
        try await deliveries.drain(for: time)
    }

    /// The dead letters, once there are `count`.
    package func deadLetters(_ count: Int, within limit: Duration = .seconds(30)) async throws -> [ConsumerRecord] {
        try await deadLetterLog.read(until: { $0.count >= count }, or: "\(count) dead letters", within: limit)
    }

    /// All dead letters so far, and those that arrive within a time from now.
    package func allDeadLetters(after time: Duration) async throws -> [ConsumerRecord] {
        try await deadLetterLog.drain(for: time)
    }
}
