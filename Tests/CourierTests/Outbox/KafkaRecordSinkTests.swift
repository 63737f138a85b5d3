// SPDX-License-Identifier: Apache-2.0

import Formats
import KafkaClient
import KafkaTools
import MockKafka
import ServiceLifecycle
import TestTools
import Testing
import Verification

@testable import Courier

@Suite(.timeLimit(.minutes(5))) struct KafkaRecordSinkTests {
    private struct Fault: Error {}

    @Test(.timeLimit(.minutes(1))) func `a producer that fails for good ends its service without a stop`() async {
        await #expect(throws: Fault.self) {
            try await KafkaRecordSink.serve({ throw Fault() }, closing: {})
        }
    }

    @Test func `a dead letter that no broker takes whole goes out shortened, with its length beside it`() async throws {
        let letter = try await published(Self.letter(bytes: 100_000, headers: 500, of: 1000)) { cluster in
            try cluster.pushErrors(.produce, [.messageTooLarge])
        }
        #expect(letter.value?.count == 65_536)
        #expect(Self.lastHeaders(letter) == ["id-1", "too_large", "100000", "500"])
        let size = letter.headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
        #expect(size <= 65_700, "a sender's headers may be long")
        #expect(letter.headers.first?.name != "small-0" && letter.headers.contains { $0.name == "small-499" })
    }

    @Test(arguments: [[KafkaError.Code.messageTooLarge, .messageTooLarge, .recordListTooLarge], [.messageTooLarge]])
    func `a dead letter is shortened until the topic takes it`(refusals: [KafkaError.Code]) async throws {
        let letter = try await published(Self.letter(bytes: 3000, headers: 2, of: 10)) { cluster in
            try cluster.pushErrors(.produce, refusals)
        }
        #expect(letter.value?.count == (refusals.count == 1 ? 1024 : 64))
        #expect(Self.lastHeaders(letter) == ["id-1", "too_large", "3000", "2"])
    }

    @Test func `a dead letter is shortened to what the client may send`() async throws {
        let record = Self.letter(bytes: 100_000, headers: 500, of: 1000)
        let letter = try await published(record, options: ["message.max.bytes": "20000"])
        #expect(letter.value?.count == 4096)
        #expect(Self.lastHeaders(letter) == ["id-1", "too_large", "100000", "500"])
    }

    @Test func `of a dead letter with too many headers the last 1,000 stay`() async throws {
        let letter = try await published(Self.letter(bytes: 10, headers: 100_001, of: 4))
        #expect(letter.headers.count == 1000)
        #expect(letter.value?.count == 10)
        #expect(letter.headers.dropLast(4).last?.name == "small-100000")
        #expect(Self.lastHeaders(letter) == ["id-1", "too_large", "10", "100001"])
    }

    @Test func `a dead letter that is too large without anything of its record fails`() async throws {
        await #expect(throws: KafkaError.self) {
            _ = try await published(
                Self.letter(bytes: 3000, headers: 2, of: 10, reason: String(repeating: "r", count: 2000)),
                options: ["message.max.bytes": "1000"]
            )
        }
    }

    private static func letter(bytes: Int, headers: Int, of size: Int, reason: String = "too_large") -> OutboxRecord {
        OutboxRecord(
            stream: UUIDValue(1),
            sequence: 1,
            isDeadLetter: true,
            key: [1],
            value: [UInt8](repeating: 7, count: bytes),
            headers: (0..<headers).map { RecordField("small-\($0)", String(repeating: "s", count: size)) }
                + [RecordField("dead-letter-id", "id-1"), RecordField("dead-letter-reason", reason)]
        )
    }

    /// The values of the headers that the worker appends.
    private static func lastHeaders(_ letter: ConsumerRecord) -> [String] {
        let names = ["dead-letter-id", "dead-letter-reason", "dead-letter-value-bytes", "dead-letter-headers"]
        let last = letter.headers.suffix(4)
        guard last.map(\.name) == names else { return [] }
        return last.map { String(decoding: $0.value ?? [], as: UTF8.self) }
    }

    /// Publishes a record through a sink, and returns the record in the topic; rethrows the sink's error.
    private func published(
        _ record: OutboxRecord,
        options: [String: String] = [:],
        prepare: (MockCluster) throws -> Void = { _ in }
    ) async throws -> ConsumerRecord {
        let cluster = try MockCluster(brokers: 1)
        defer { cluster.close() }
        try cluster.createTopic("deliveries", partitions: 1)
        try cluster.createTopic("dead-letters", partitions: 1)
        let configuration = KafkaConfiguration(bootstrapServers: cluster.bootstrapServers)
        var sending = configuration
        sending.options = options
        let sink = KafkaRecordSink(
            producer: try KafkaProducer(configuration: sending),
            deliveries: "deliveries",
            deadLetters: "dead-letters"
        )
        let reader = try await TopicReader.open(configuration: configuration, topic: "dead-letters", from: .beginning)
        let serving = Task { try await sink.run() }
        return try await doing {
            try prepare(cluster)
            let (answers, answer) = AsyncStream.makeStream(of: (record: OutboxRecord, failure: (any Error)?).self)
            await sink.publish([record]) { answer.yield(($0, $1)) }
            let first = await answers.first { _ in true }
            let told = try #require(first)
            #expect(told.record == record)
            if let failure = told.failure { throw failure }
            return try #require(try await reader.next(maximum: 1, within: .seconds(30)).first)
        } afterwards: {
            await reader.close()
            serving.cancel()
            _ = await serving.result
        }
    }
}
