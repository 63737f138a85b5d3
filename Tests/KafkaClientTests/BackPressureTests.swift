// SPDX-License-Identifier: Apache-2.0

import TestTools
import Testing

@testable import KafkaClient

@Suite(.timeLimit(.minutes(3)))
struct BackPressureTests {
    /// The poll interval is shorter than the time for which the tests leave the consumer undrained.
    private static let options = ["max.poll.interval.ms": "6000"]
    private static let limits = ConsumerLimits(highWater: 50)

    @Test(arguments: BrokerKind.available)
    func `a consumer that nobody drains stays in its group, stays small and loses nothing`(
        _ kind: BrokerKind
    ) async throws {
        let broker = try TestBroker(kind)
        let topic = try await broker.makeTopic(partitions: 3)
        try await broker.sendNumbers(0..<3000, to: topic, partitions: 3)
        let consumer = try KafkaConsumer(
            configuration: broker.groupConfiguration(Self.options),
            groupID: uniqueName("group-"),
            topics: [topic],
            limits: Self.limits
        )
        async let running: Void = consumer.run()
        try await consumer.waitForPartitions(3)
        // The test needs a time longer than the poll interval.
        try await Task.sleep(for: .seconds(9))
        #expect(await consumer.buffer.count <= 50)
        #expect(await consumer.isHeld)
        let records = try await consumer.read(3000, maximum: 17)
        await consumer.close()
        try await running
        for partition in 0..<3 {
            let numbers = records.filter { $0.partition == Int32(partition) }.compactMap(\.number)
            #expect(numbers == Array(stride(from: partition, to: 3000, by: 3)))
        }
        for await notice in consumer.notices {
            if case .lost = notice { Issue.record("lost its partitions") }
            if case .error(let error) = notice { Issue.record("\(error)") }
        }
    }

    @Test(arguments: BrokerKind.available)
    func `partitions that were held back are read on after a rebalance`(_ kind: BrokerKind) async throws {
        let broker = try TestBroker(kind)
        let topic = try await broker.makeTopic(partitions: 2)
        let group = uniqueName("group-")
        try await broker.sendNumbers(0..<1000, to: topic, partitions: 2)
        try await broker.withConsumer(group: group, topic: topic, limits: Self.limits) { first in
            try await eventually("its buffer stays full") { await first.isHeld }
            let early = try await broker.withConsumer(group: group, topic: topic, limits: Self.limits) { second in
                try await first.waitForPartitions(1)
                try await eventually("its buffer stays full") { await first.isHeld }
                return try await second.read(500)
            }
            // The first member owns both partitions again, one of which was held back when it was revoked.
            try await first.waitForPartitions(2)
            let late = try await first.read(500)
            #expect((early + late).compactMap(\.number).sorted() == Array(0..<1000))
        }
    }

    @Test(arguments: BrokerKind.available)
    func `the lag of a consumer that nobody drains grows with its topic`(_ kind: BrokerKind) async throws {
        let broker = try TestBroker(kind)
        let topic = try await broker.makeTopic(partitions: 2)
        try await broker.sendNumbers(0..<200, to: topic, partitions: 2)
        try await broker.withConsumer(group: uniqueName("group-"), topic: topic, limits: Self.limits) { consumer in
            try await eventually("its buffer stays full") { await consumer.isHeld }
            for _ in 0..<2 { try await broker.sendNumbers(0..<300, to: topic, partitions: 2) }
            // A partition's lag is unknown until its first read, and some brokers report the last batch's start as the
            // end.
            try await eventually("the lag has grown") {
                let lags = await consumer.lag().map(\.lag)
                return !lags.isEmpty && lags.allSatisfy { (250...400).contains($0) }
            }
            _ = try await consumer.read(800)
            try await eventually("there is no lag") { await consumer.lag().map(\.lag) == [0, 0] }
        }
    }

    @Test
    func `many holds neither skip nor repeat a record`() async throws {
        let broker = try TestBroker(.mock)
        let topic = try await broker.makeTopic(partitions: 2)
        try await broker.sendNumbers(0..<400, to: topic, partitions: 2)
        let limits = ConsumerLimits(highWater: 40)
        try await broker.withConsumer(group: uniqueName("group-"), topic: topic, limits: limits) { consumer in
            var records: [ConsumerRecord] = []
            while records.count < 400 {
                if records.count < 350 { try await eventually("its buffer stays full") { await consumer.isHeld } }
                records += try await consumer.read(min(35, 400 - records.count), maximum: 35)
            }
            for partition in 0..<2 {
                let numbers = records.filter { $0.partition == Int32(partition) }.compactMap(\.number)
                #expect(numbers == Array(stride(from: partition, to: 400, by: 2)))
            }
        }
    }
}
