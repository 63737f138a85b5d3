// SPDX-License-Identifier: Apache-2.0

import Formats
import KafkaClient
import KafkaTools
import MockKafka
import TestSupport
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("dead letters, on topics", .timeLimit(.minutes(2))) struct DeadLetterTopicTests {
    private let cluster: MockCluster
    private let kafka: KafkaSettings

    init() throws {
        cluster = try MockCluster(brokers: 1)
        for topic in ["requests", "receipts", "dead-letters"] { try cluster.createTopic(topic, partitions: 3) }
        var kafka = KafkaSettings()
        kafka.bootstrapServers = cluster.bootstrapServers
        (kafka.topics.requests, kafka.topics.receipts) = ("requests", "receipts")
        kafka.topics.deadLetters = "dead-letters"
        self.kafka = kafka
    }

    private func produce(_ records: [ProducerRecord]) async throws {
        let producer = try KafkaProducer(configuration: kafka.client)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await producer.run() }
            for case .failed(let error) in await producer.send(records) { throw error }
            await producer.close(within: .seconds(5))
            try await group.waitForAll()
        }
    }

    private func records(of topic: String) async throws -> [ConsumerRecord] {
        let reader = try await TopicReader.open(configuration: kafka.client, topic: topic, from: .beginning)
        return try await doing {
            var records: [ConsumerRecord] = []
            try await eventually("the topic is read") {
                records += try await reader.next(maximum: 1000, within: .milliseconds(100))
                return await reader.reachedEnd
            }
            return records
        } afterwards: {
            await reader.close()
        }
    }

    private func redrive(
        _ selection: DeadLetterSelection,
        since: Timestamp? = nil
    ) async throws -> (RedrivePlan, Redrive.Outcome) {
        let source = DeadLetterTopic(kafka: kafka, since: since)
        let plan = try await Redrive.plan(selection, source)
        return (plan, try await Redrive(source, plan: plan).run(plan) { _ in })
    }

    @Test func `everything goes back once, where and as it was`() async throws {
        let letters = (0..<1200).map { index in
            DeadLetterSample.record(
                "value \(index)",
                topic: index.isMultiple(of: 4) ? "receipts" : "requests",
                partition: Int32(index % 3),
                offset: Int64(index),
                made: .test + .seconds(index)
            )
        }
        let other = ProducerRecord(topic: "dead-letters", key: nil, value: [1])
        try await produce(letters + letters.prefix(100) + [other])
        let (plan, outcome) = try await redrive(.all)
        #expect(outcome == Redrive.Outcome(sent: ["requests": 900, "receipts": 300]))
        #expect(RedriveReport(plan: plan, outcome: outcome, topics: kafka.topics).isComplete)
        for topic in ["requests", "receipts"] {
            let back = try await records(of: topic)
            let expected = letters.indices.filter { $0.isMultiple(of: 4) == (topic == "receipts") }
            #expect(Set(back.map { $0.value }) == Set(expected.map { Array("value \($0)".utf8) }))
            #expect(back.count == expected.count)
            for record in back {
                let text = String(decoding: record.value?.dropFirst(6) ?? [], as: UTF8.self)
                let index = try #require(Int(text))
                #expect(record.timestamp == (Timestamp.test + .seconds(index)).microseconds / 1000)
                #expect(record.partition == Int32(index % 3))
            }
        }
    }

    @Test func `only what is meant goes back`() async throws {
        try await produce([
            DeadLetterSample.record("old", offset: 1, died: .test),
            DeadLetterSample.record("new", offset: 2, died: .test + .seconds(600)),
            DeadLetterSample.record("deep", offset: 3, reason: .tooDeep, died: .test + .seconds(600)),
            DeadLetterSample.record("foreign", topic: "other", offset: 4, died: .test + .seconds(600)),
        ])
        let (plan, outcome) = try await redrive(.reason(.notJSON), since: .test + .seconds(300))
        #expect(outcome.sent == ["requests": 1])
        #expect(try await records(of: "requests").map(\.value) == [Array("new".utf8)])
        let report = RedriveReport(plan: plan, outcome: outcome, topics: kafka.topics)
        #expect(report.lines.first == "1 are back on requests")
        #expect(report.lines.last?.hasPrefix("1 refused: they came from other") == true)
        #expect(!report.isComplete)
    }

    @Test func `what went back is told, also when the rest cannot be read`() async throws {
        let letters = try (0..<3).map { offset in
            try #require(DeadLetterSample.letter(DeadLetterSample.record(offset: Int64(offset))))
        }
        var plan = RedrivePlan(.all, topics: kafka.topics)
        for letter in letters { plan.consider(letter) }
        let source = BreakingSource(kafka: kafka, letters: Array(letters.prefix(2)))
        let outcome = try await Redrive(source, plan: plan).run(plan) { _ in }
        #expect(outcome == Redrive.Outcome(sent: ["requests": 2], failure: KafkaError(.authentication)))
        #expect(try await records(of: "requests").count == 2)
        let report = RedriveReport(plan: plan, outcome: outcome, topics: kafka.topics)
        #expect(report.lines == ["2 are back on requests", "1 are not back: KafkaError(_AUTHENTICATION)"])
        #expect(!report.isComplete)
    }

    /// A source that fails after its first batch of dead letters.
    private struct BreakingSource: DeadLetterSource {
        let kafka: KafkaSettings
        let letters: [DeadLetter]

        func read(_ body: ([DeadLetter]) async -> Bool) async throws(KafkaError) {
            if await body(letters) { throw KafkaError(.authentication) }
        }
    }

    @Test func `a redrive that is cancelled stops and says so`() async throws {
        try await produce((0..<50).map { DeadLetterSample.record(offset: Int64($0)) })
        let source = DeadLetterTopic(kafka: kafka, since: nil)
        let plan = try await Redrive.plan(.all, source)
        let redrive = try await Redrive(source, plan: plan)
        let outcome = try await withThrowingTaskGroup(of: Redrive.Outcome.self) { group in
            group.cancelAll()
            group.addTask { try await redrive.run(plan) { _ in } }
            return try await group.next()
        }
        #expect(outcome == Redrive.Outcome(isInterrupted: true))
        let lines = RedriveReport(plan: plan, outcome: outcome, topics: kafka.topics).lines
        #expect(lines == ["50 are not back: interrupted"])
        #expect(try await records(of: "requests").isEmpty)
    }
}
