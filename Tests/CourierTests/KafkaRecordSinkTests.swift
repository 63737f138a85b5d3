// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import ServiceLifecycle
import Testing
import Verification

@testable import Courier

@Suite struct KafkaRecordSinkTests {
    private struct Fault: Error {}

    @Test(.timeLimit(.minutes(1))) func `a producer that fails for good ends its service without a stop`() async {
        await #expect(throws: Fault.self) {
            try await KafkaRecordSink.serve({ throw Fault() }, closing: {})
        }
    }

    @Test func `a dead letter that no broker takes whole goes out shortened, with its length beside it`() async throws {
        let cluster = try MockCluster(brokers: 1)
        defer { cluster.close() }
        try cluster.createTopic("deliveries", partitions: 1)
        try cluster.createTopic("dead-letters", partitions: 1)
        let configuration = KafkaConfiguration(bootstrapServers: cluster.bootstrapServers)
        let sink = KafkaRecordSink(
            producer: try KafkaProducer(configuration: configuration),
            deliveries: "deliveries",
            deadLetters: "dead-letters"
        )
        let reader = try await TopicReader.open(configuration: configuration, topic: "dead-letters", from: .beginning)
        let serving = Task { try await sink.run() }
        let record = OutboxRecord(
            stream: UUIDValue(1),
            sequence: 1,
            isDeadLetter: true,
            key: [1],
            value: [UInt8](repeating: 7, count: 100_000),
            headers: (0..<20_000).map { RecordField("small-\($0)", "of its sender") }
                + [RecordField("dead-letter-reason", "too_large")]
        )
        try cluster.pushErrors(.produce, [.messageTooLarge])
        let (answers, answer) = AsyncStream.makeStream(of: (record: OutboxRecord, failure: (any Error)?).self)
        await sink.publish([record]) { answer.yield(($0, $1)) }
        let first = await answers.first { _ in true }
        let told = try #require(first)
        #expect(told.record == record && told.failure == nil)

        let letter = try #require(try await reader.next(maximum: 1, within: .seconds(30)).first)
        #expect(letter.value?.count == 65_536)
        #expect(
            letter.headers.suffix(2) == [
                RecordHeader(name: "dead-letter-reason", value: Array("too_large".utf8)),
                RecordHeader(name: "dead-letter-value-bytes", value: Array("100000".utf8)),
            ]
        )
        let size = letter.headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
        #expect(size <= 65_600, "a sender's headers may be many")
        #expect(letter.headers.first?.name != "small-0" && letter.headers.contains { $0.name == "small-19999" })
        await reader.close()
        serving.cancel()
        _ = await serving.result
    }
}
