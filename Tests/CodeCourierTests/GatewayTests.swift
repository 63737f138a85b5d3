// SPDX-License-Identifier: Apache-2.0

import Formats
import KafkaClient
import MockKafka
import Testing

@testable import CodeCourier

@Suite("a gateway", .timeLimit(.minutes(1))) struct GatewayTests {
    private let cluster: MockCluster
    private let kafka: KafkaSettings

    init() throws {
        cluster = try MockCluster(brokers: 1)
        var kafka = KafkaSettings()
        kafka.bootstrapServers = cluster.bootstrapServers
        // The gateway reads the records that it writes itself, in place of a worker's events.
        (kafka.topics.requests, kafka.topics.deliveries) = ("events", "events")
        try cluster.createTopic("events", partitions: 1)
        self.kafka = kafka
    }

    @Test func `it finds the event that answers a request among others`() async throws {
        let gateway = try await Gateway(kafka)
        for id in ["a", "b"] {
            _ = try await gateway.send(value: Array(#"{"requestId":"\#(id)"}"#.utf8), key: id)
        }
        let event = try await gateway.event(answering: "b", within: .seconds(30))
        #expect(event.flatMap { EventLine($0).requestID } == "b")
        #expect(try await gateway.event(answering: "c", within: .milliseconds(10)) == nil)
        await gateway.close()
    }

    @Test func `who no longer waits for an event is let go at once`() async throws {
        let gateway = try await Gateway(kafka)
        let waiting = Task { try await gateway.event(answering: "a", within: .seconds(300)) }
        waiting.cancel()
        let start = ContinuousClock.now
        await #expect(throws: CancellationError.self) { try await waiting.value }
        // Cancellation is immediate; the limit only allows for a busy machine.
        #expect(ContinuousClock.now - start < .seconds(60))
        await gateway.close()
    }
}
