// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import MockKafka
import TestTools
import Testing

@Suite(.timeLimit(.minutes(3)))
struct GroupTests {
    @Test(arguments: BrokerKind.available)
    func `two members share the partitions and one takes over what the other leaves`(_ kind: BrokerKind) async throws {
        let broker = try TestBroker(kind)
        let topic = try await broker.makeTopic(partitions: 4)
        let group = uniqueName("group-")
        try await broker.withConsumer(group: group, topic: topic) { survivor in
            try await broker.withConsumer(group: group, topic: topic) { leaver in
                try await survivor.waitForPartitions(2)
                for member in [leaver, survivor] {
                    try await eventually("each owns half") { await member.ownedShare() == 0.5 }
                }
                try await broker.sendNumbers(0..<200, to: topic, partitions: 4)
                let records = try await readTogether([leaver, survivor], 200)
                #expect(records.compactMap(\.number).sorted() == Array(0..<200))
            }
            try await survivor.waitForPartitions(4)
            try await broker.sendNumbers(200..<400, to: topic, partitions: 4)
            #expect(try await survivor.read(200).compactMap(\.number).sorted() == Array(200..<400))
        }
        try await broker.sendNumbers(400..<404, to: topic, partitions: 4)
        let rest = try await broker.withConsumer(group: group, topic: topic) { try await $0.read(4) }
        #expect(rest.compactMap(\.number).sorted() == Array(400..<404))
    }

    @Test(arguments: BrokerKind.available)
    func `a batch that outlives the assignment is not committed and comes again`(_ kind: BrokerKind) async throws {
        let broker = try TestBroker(kind)
        let topic = try await broker.makeTopic(partitions: 2)
        let group = uniqueName("group-")
        try await broker.sendNumbers(0..<10, to: topic, partitions: 2)
        try await broker.withConsumer(group: group, topic: topic) { first in
            let batch = try #require(try await first.nextBatch(maximum: 100))
            try await broker.withConsumer(group: group, topic: topic) { second in
                try await first.waitForPartitions(1)
                #expect(await first.commit([batch]) == .notAssigned)
                let records = try await readTogether([first, second], 10)
                #expect(records.compactMap(\.number).sorted() == Array(0..<10))
            }
        }
    }

    @Test(arguments: BrokerKind.available)
    func `a member that works on a batch may still commit it while it gives its partitions back`(
        _ kind: BrokerKind
    ) async throws {
        let broker = try TestBroker(kind)
        let topic = try await broker.makeTopic(partitions: 2)
        let group = uniqueName("group-")
        try await broker.sendNumbers(0..<10, to: topic, partitions: 2)
        let consumer = try KafkaConsumer(
            configuration: broker.groupConfiguration(),
            groupID: group,
            topics: [topic]
        )
        async let running: Void = consumer.run()
        var batches: [RecordBatch] = []
        while batches.reduce(0, { $0 + $1.records.count }) < 10 {
            batches.append(try #require(try await consumer.nextBatch(maximum: 100)))
        }
        async let closing: Void = consumer.close(within: .seconds(30))
        #expect(try await consumer.nextBatch(maximum: 1) == nil)
        // The pause is longer than a member that stays in the group may delay a revocation.
        try await Task.sleep(for: .seconds(3))
        for batch in batches {
            let outcome = await consumer.commit([batch])
            #expect(outcome == .committed)
        }
        await closing
        try await running
        try await broker.sendNumbers(10..<12, to: topic, partitions: 2)
        let rest = try await broker.withConsumer(group: group, topic: topic) { try await $0.read(2) }
        #expect(rest.compactMap(\.number).sorted() == [10, 11])
    }

    @Test
    func `a commit that the broker refuses is an outcome and a later one makes it good`() async throws {
        let broker = try TestBroker(.mock)
        let topic = try await broker.makeTopic(partitions: 1)
        let group = uniqueName("group-")
        let errors: [KafkaError.Code] = [.rebalanceInProgress, .coordinatorNotAvailable, .transport, .unknownMember]
        let mock = try #require(broker.mock)
        var highest: Int64 = -1
        try await broker.withConsumer(group: group, topic: topic) { consumer in
            for (index, error) in errors.enumerated() {
                try await broker.sendNumbers(index..<index + 1, to: topic, partitions: 1)
                let batch = try #require(try await consumer.nextBatch(maximum: 100))
                try mock.pushErrors(.offsetCommit, [error])
                let outcome = await consumer.commit([batch])
                switch error {
                case .rebalanceInProgress: #expect(outcome == .failed(KafkaError(.rebalanceInProgress)))
                case .unknownMember: #expect(outcome == .notAssigned)
                default: #expect(outcome == .committed, "\(error.name)")
                }
            }
            while highest < 4 {
                if highest < 3 { try await broker.sendNumbers(4..<5, to: topic, partitions: 1) }
                let batch = try #require(try await consumer.nextBatch(maximum: 100))
                if await consumer.isCommitted(batch) { highest = batch.records.last?.offset ?? highest }
            }
        }
        try await broker.sendNumbers(5..<6, to: topic, partitions: 1)
        let rest = try await broker.withConsumer(group: group, topic: topic) { try await $0.read(1) }
        #expect((rest.first?.offset ?? -1) > highest)
    }

    @Test
    func `a group closes within its limit while a member is joining`() async throws {
        let broker = try TestBroker(.mock)
        let topic = try await broker.makeTopic(partitions: 2)
        let group = uniqueName("group-")
        // A close that waited for this timeout would exceed the test's limit on any machine.
        let configuration = broker.groupConfiguration(["session.timeout.ms": "60000"])
        let first = try KafkaConsumer(configuration: configuration, groupID: group, topics: [topic])
        let second = try KafkaConsumer(configuration: configuration, groupID: group, topics: [topic])
        async let running: Void = first.run()
        try await first.waitForPartitions(2)
        async let joining: Void = second.run()
        try await first.waitForNotice { if case .revoked = $0 { true } else { false } }
        let start = ContinuousClock.now
        await first.close(within: .seconds(2))
        await second.close(within: .seconds(2))
        #expect(start.duration(to: .now) < .seconds(30))
        try await running
        try await joining
    }

    @Test
    func `unreachable brokers are noticed once and so is their return`() async throws {
        let broker = try TestBroker(.mock)
        let topic = try await broker.makeTopic(partitions: 1)
        let mock = try #require(broker.mock)
        try await broker.withConsumer(group: uniqueName("group-"), topic: topic) { consumer in
            try await consumer.waitForPartitions(1)
            try mock.brokerDown()
            try await consumer.waitForNotice { if case .brokersUnreachable = $0 { true } else { false } }
            try mock.brokerUp()
            try await broker.sendNumbers(0..<1, to: topic, partitions: 1)
            #expect(try await consumer.nextBatch(maximum: 1)?.records.count == 1)
            try await consumer.waitForNotice { $0 == .brokersReachable }
        }
    }

    @Test(arguments: BrokerKind.available)
    func `the lag counts what was not handed out`(_ kind: BrokerKind) async throws {
        let broker = try TestBroker(kind)
        let topic = try await broker.makeTopic(partitions: 1)
        try await broker.sendNumbers(0..<100, to: topic, partitions: 1)
        try await broker.withConsumer(group: uniqueName("group-"), topic: topic) { consumer in
            #expect(await consumer.lag().isEmpty)
            let taken = try #require(try await consumer.nextBatch(maximum: 10)).records.count
            #expect(await consumer.lag().map(\.lag) == [Int64(100 - taken)])
            _ = try await consumer.read(100 - taken)
            #expect(await consumer.lag().map(\.lag) == [0])
        }
    }
}
