// SPDX-License-Identifier: Apache-2.0

import Foundation
import KafkaClient
import KafkaSupport
import KafkaTools
import MockKafka
import TestTools
import Testing

enum BrokerKind: String, CaseIterable, CustomTestStringConvertible {
    /// Librdkafka's mock cluster, in this process.
    case mock

    /// The cluster whose bootstrap servers are in `COURIER_TEST_KAFKA`.
    case external

    var testDescription: String { rawValue }

    static var externalServers: String? { ProcessInfo.processInfo.environment["COURIER_TEST_KAFKA"] }

    /// Number of replicas of new topics on an external cluster.
    static var replicas: Int {
        ProcessInfo.processInfo.environment["COURIER_TEST_KAFKA_REPLICAS"].flatMap { Int($0) } ?? 1
    }

    /// The kind for the shared tests: the external cluster if there is one.
    static var available: [BrokerKind] { [externalServers == nil ? .mock : .external] }
}

struct TestBroker {
    let bootstrapServers: String
    let mock: MockCluster?

    init(_ kind: BrokerKind, brokers: Int = 1) throws {
        switch kind {
        case .mock:
            let mock = try MockCluster(brokers: brokers)
            (bootstrapServers, self.mock) = (mock.bootstrapServers, mock)
        case .external:
            (bootstrapServers, mock) = (try #require(BrokerKind.externalServers), nil)
        }
    }

    /// A cluster at an address that may have no broker.
    init(servers: String) {
        (bootstrapServers, mock) = (servers, nil)
    }

    func configuration(_ options: [String: String] = [:]) -> KafkaConfiguration {
        KafkaConfiguration(bootstrapServers: bootstrapServers, options: options)
    }

    /// A configuration whose group detects lost members quickly.
    func groupConfiguration(_ options: [String: String] = [:]) -> KafkaConfiguration {
        let quick = ["session.timeout.ms": "6000", "heartbeat.interval.ms": "500"]
        return configuration(quick.merging(options) { $1 })
    }

    func makeTopic(partitions: Int) async throws -> String {
        let name = uniqueName("topic-")
        try await makeTopic(name, partitions: partitions)
        return name
    }

    func makeTopic(_ name: String, partitions: Int) async throws {
        if let mock {
            try mock.createTopic(name, partitions: partitions)
        } else {
            try await KafkaAdmin.createTopic(
                name,
                partitions: partitions,
                replicas: BrokerKind.replicas,
                configuration: configuration()
            )
        }
    }

    /// Sends records through a new producer, and expects all of them to be delivered.
    func send(_ records: [ProducerRecord]) async throws {
        let results = try await withProducer { await $0.send(records) }
        for result in results {
            guard case .delivered = result else {
                Issue.record("not delivered: \(result)")
                return
            }
        }
    }

    /// Sends numbered records, distributed over the partitions in turn.
    func sendNumbers(_ numbers: Range<Int>, to topic: String, partitions: Int) async throws {
        try await send(
            numbers.map {
                ProducerRecord(
                    topic: topic,
                    key: Array("key-\($0)".utf8),
                    value: Array(String($0).utf8),
                    partition: Int32($0 % partitions)
                )
            }
        )
    }

    /// All records of a topic, read in batches of at most `maximum`.
    func records(
        of topic: String,
        from start: TopicReader.Start = .beginning,
        maximum: Int = 500
    ) async throws -> [ConsumerRecord] {
        let reader = try await TopicReader.open(configuration: configuration(), topic: topic, from: start)
        return try await doing {
            var records: [ConsumerRecord] = []
            try await eventually("the topic is read", within: .seconds(60)) {
                records += try await reader.next(maximum: maximum, within: .milliseconds(100))
                return await reader.reachedEnd
            }
            return records
        } afterwards: {
            await reader.close()
        }
    }

    func withProducer<Result: Sendable>(
        _ options: [String: String] = [:],
        _ body: (KafkaProducer) async throws -> Result
    ) async throws -> Result {
        let producer = try KafkaProducer(configuration: configuration(options))
        async let running: Void = producer.run()
        let result: Result
        do {
            result = try await body(producer)
        } catch {
            await producer.close(within: .seconds(1))
            throw error
        }
        await producer.close(within: .seconds(10))
        try await running
        return result
    }

    func withConsumer<Result: Sendable>(
        group: String,
        topic: String,
        limits: ConsumerLimits = ConsumerLimits(),
        options: [String: String] = [:],
        _ body: (KafkaConsumer) async throws -> Result
    ) async throws -> Result {
        let consumer = try KafkaConsumer(
            configuration: groupConfiguration(options),
            groupID: group,
            topics: [topic],
            limits: limits
        )
        async let running: Void = consumer.run()
        let result: Result
        do {
            result = try await body(consumer)
        } catch {
            await consumer.close()
            throw error
        }
        await consumer.close()
        try await running
        return result
    }
}

extension ConsumerRecord {
    var number: Int? { value.flatMap { Int(String(decoding: $0, as: UTF8.self)) } }
}

extension KafkaConsumer {
    /// Reads and commits until `count` records are committed.
    func read(_ count: Int, maximum: Int = 500) async throws -> [ConsumerRecord] {
        var records: [ConsumerRecord] = []
        while records.count < count {
            guard let batch = try await nextBatch(maximum: maximum) else { break }
            if await isCommitted(batch) { records += batch.records }
        }
        return records
    }

    /// Commits a batch; false when a rebalance came first, so that its records will be redelivered.
    func isCommitted(_ batch: RecordBatch) async -> Bool {
        switch await commit([batch]) {
        case .committed: return true
        case .notAssigned: return false
        case .failed(let error):
            #expect(error.code == .rebalanceInProgress)
            return false
        }
    }

    nonisolated func waitForNotice(_ isWanted: (ConsumerNotice) -> Bool) async throws {
        for await notice in notices where isWanted(notice) {
            return
        }
        throw CancellationError()
    }

    /// Waits until the group has assigned exactly `count` partitions to the member.
    nonisolated func waitForPartitions(_ count: Int) async throws {
        try await waitForNotice {
            guard case .assigned(let partitions) = $0 else { return false }
            return partitions.count == count
        }
    }
}

/// The records that several members committed.
actor Tally {
    private(set) var records: [ConsumerRecord] = []

    func add(_ new: [ConsumerRecord]) -> Int {
        records += new
        return records.count
    }
}

/// Reads with several members of one group until they have committed `count` records in total.
func readTogether(_ members: [KafkaConsumer], _ count: Int) async throws -> [ConsumerRecord] {
    let tally = Tally()
    try await withThrowingTaskGroup { group in
        for member in members {
            group.addTask {
                while let batch = try await member.nextBatch(maximum: 10) {
                    guard await member.isCommitted(batch) else { continue }
                    if await tally.add(batch.records) >= count { return }
                }
            }
        }
        try await group.next()
        group.cancelAll()
        // The remaining members were cancelled while they waited for more records.
        while let result = await group.nextResult() {
            if case .failure(let error) = result { #expect(error as? KafkaError == KafkaError(.cancelled)) }
        }
    }
    return await tally.records
}
