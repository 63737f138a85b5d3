// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka
import KafkaSupport
import MockKafka
import TestTools
import Testing

@testable import KafkaClient

@Suite(.timeLimit(.minutes(2)))
struct ProducerTests {
    @Test
    func `errors of the broker neither lose records nor change the order of a key`() async throws {
        let broker = try TestBroker(.mock)
        let topic = try await broker.makeTopic(partitions: 1)
        let mock = try #require(broker.mock)
        let (results, told) = AsyncStream.makeStream(of: DeliveryResult.self)
        // The mock cluster does not check sequence numbers, so it accepts a request that overtakes a refused one.
        try await broker.withProducer(["linger.ms": "0", "retry.backoff.ms": "20"]) { producer in
            #expect(await producer.send(records(0..<1, topic)).areDelivered)
            #expect(await producer.send([]).isEmpty)
            try mock.delayAnswers(of: 1, by: .milliseconds(20))
            let errors: [KafkaError.Code] = [.notLeader, .requestTimedOut, .leaderNotAvailable, .transport]
            var next = 1
            // Each error alone, while later requests would succeed, and then all errors in a row.
            for refusals in errors.map({ [$0] }) + [errors] {
                try mock.pushErrors(.produce, refusals)
                for _ in 0..<20 {
                    await producer.take(records(next..<next + 1, topic).map { OutgoingRecord($0) { told.yield($0) } })
                    next += 1
                    // Interval between records, short enough that many arrive while one request is in flight.
                    try await Task.sleep(for: .milliseconds(2))
                }
            }
            var delivered = 0
            for await result in results.prefix(next - 1) where result.isDelivered { delivered += 1 }
            #expect(delivered == next - 1)
        }
        #expect(try await numbers(of: topic, on: broker) == Array(0..<101))
    }

    @Test(arguments: BrokerKind.available)
    func `results come in the order of the records`(_ kind: BrokerKind) async throws {
        let broker = try TestBroker(kind)
        let topic = try await broker.makeTopic(partitions: 3)
        let results = try await broker.withProducer { producer in
            await producer.send(
                (0..<9).map { ProducerRecord(topic: topic, key: nil, value: [1], partition: Int32($0 % 3)) }
            )
        }
        let expected = (0..<9).map { DeliveryResult.delivered(partition: $0 % 3, offset: Int64($0 / 3)) }
        #expect(results == expected)
    }

    @Test(arguments: BrokerKind.available)
    func `a full queue makes the sender wait and loses nothing`(_ kind: BrokerKind) async throws {
        let broker = try TestBroker(kind)
        let topic = try await broker.makeTopic(partitions: 1)
        try await broker.withProducer(["queue.buffering.max.messages": "10"]) { producer in
            async let first = producer.send(records(0..<300, topic))
            #expect(await first.areDelivered)
            #expect(await producer.send(records(300..<600, topic)).areDelivered)
        }
        #expect(try await numbers(of: topic, on: broker) == Array(0..<600))
    }

    @Test
    func `a partition without a leader holds up no result of the others`() async throws {
        let broker = try TestBroker(.mock)
        let topic = try await broker.makeTopic(partitions: 2)
        let mock = try #require(broker.mock)
        try mock.setLeader(of: topic, 0, to: nil)
        let (results, told) = AsyncStream.makeStream(of: (number: Int, result: DeliveryResult).self)
        let numbers = try await broker.withProducer { producer in
            let records = (0..<6).map { number in
                let partition = Int32(number % 2)
                let record = ProducerRecord(topic: topic, key: nil, value: [UInt8(number)], partition: partition)
                return OutgoingRecord(record) { told.yield((number, $0)) }
            }
            await producer.take(records)
            var numbers: [Int] = []
            for await (number, result) in results {
                #expect(result.isDelivered, "\(number): \(result)")
                numbers.append(number)
                if numbers.count == 3 { try mock.setLeader(of: topic, 0, to: 1) }
                if numbers.count == 6 { break }
            }
            return numbers
        }
        #expect(numbers == [1, 3, 5, 0, 2, 4])
    }

    @Test
    func `a record that cannot be sent fails alone`() async throws {
        let broker = try TestBroker(.mock)
        let topic = try await broker.makeTopic(partitions: 1)
        let headers = [RecordHeader(name: "h", value: [1])]
        let results = try await broker.withProducer(["message.max.bytes": "1000000"]) { producer in
            // Once the client knows the topic, it rejects an unknown partition.
            _ = await producer.send([ProducerRecord(topic: topic, key: nil, value: [0])])
            return await producer.send([
                ProducerRecord(topic: topic, key: nil, value: [1], headers: headers),
                ProducerRecord(topic: topic, key: nil, value: [2], headers: headers, partition: 9),
                ProducerRecord(topic: topic, key: nil, value: Array(repeating: 0, count: 2_000_000), headers: headers),
                ProducerRecord(topic: topic, key: nil, value: [3], headers: headers),
            ])
        }
        #expect(results.map(\.isDelivered) == [true, false, false, true])
        #expect(results[1] == .failed(KafkaError(.unknownPartition)))
        #expect(results[2] == .failed(KafkaError(.messageTooLarge)))
    }

    @Test
    func `a call whose every record is refused at once returns`() async throws {
        let broker = try TestBroker(.mock)
        let topic = try await broker.makeTopic(partitions: 1)
        try await broker.withProducer { producer in
            // Once the client knows the topic, it rejects an unknown partition without a request.
            _ = await producer.send([ProducerRecord(topic: topic, key: nil, value: [0])])
            let stray = ProducerRecord(topic: topic, key: nil, value: [1], partition: 9)
            let (answers, answer) = AsyncStream.makeStream(of: [DeliveryResult].self)
            // An unstructured task, so that a call that never returns fails the test at its time limit.
            Task { answer.yield(await producer.send([stray, stray])) }
            let results = await answers.first { _ in true }
            #expect(results == Array(repeating: .failed(KafkaError(.unknownPartition)), count: 2))
        }
    }

    @Test
    func `a client that failed for good is replaced, a young one after a while, and the caller may send again`()
        async throws
    {
        let start = ContinuousClock.now
        let broker = try TestBroker(.mock)
        let topic = try await broker.makeTopic(partitions: 1)
        let mock = try #require(broker.mock)
        try await broker.withProducer { producer in
            #expect(await producer.send(records(0..<1, topic)).areDelivered)
            try mock.brokerDown()
            async let pending = producer.send(records(1..<11, topic))
            try await eventually("they are under way") { await !producer.backlog.isEmpty }
            await producer.breakClient()
            for result in await pending {
                guard case .failed(let error) = result else {
                    Issue.record("\(result)")
                    continue
                }
                #expect(error.isRetriable)
                #expect(error.code == .outOfOrderSequence, "the cause is told")
            }
            try mock.brokerUp()
            #expect(await producer.send(records(1..<11, topic)).areDelivered)
            #expect(start.duration(to: .now) >= KafkaProducer.shortestLife)
        }
        #expect(try await numbers(of: topic, on: broker) == Array(0..<11))
    }

    @Test
    func `what is not written by the deadline of closing is reported`() async throws {
        let broker = try TestBroker(.mock)
        let topic = try await broker.makeTopic(partitions: 1)
        let producer = try KafkaProducer(configuration: broker.configuration())
        async let running: Void = producer.run()
        #expect(await producer.send(records(0..<1, topic)).areDelivered)
        try broker.mock?.brokerDown()
        async let pending = producer.send(records(1..<3, topic))
        let start = try await doing {
            try await eventually("they are under way") { await !producer.backlog.isEmpty }
            return ContinuousClock.now
        } afterwards: {
            await producer.close(within: .milliseconds(300))
        }
        // Without the deadline the close would wait for the records' delivery timeout.
        #expect(start.duration(to: .now) < .seconds(20))
        #expect(await pending == Array(repeating: .failed(KafkaError(.purged)), count: 2))
        #expect(await producer.send(records(3..<4, topic)) == [.failed(KafkaError(.closed))])
        try await running
    }

    @Test
    func `closing is right in every phase`() async throws {
        let broker = try TestBroker(.mock)
        let topic = try await broker.makeTopic(partitions: 1)
        let idle = try KafkaProducer(configuration: broker.configuration())
        async let waiting = idle.send(records(0..<1, topic))
        try await doing {
            try await eventually("it waits") { await !idle.backlog.isEmpty }
        } afterwards: {
            await idle.close(within: .seconds(5))
        }
        #expect(await waiting.areDelivered)
        await idle.close(within: .seconds(5))
        try await idle.run()
        let cancelled = try KafkaProducer(configuration: broker.configuration())
        // An unstructured task, so that it can be cancelled alone.
        let task = Task { try await cancelled.run() }
        task.cancel()
        try await task.value
        let dropped = try KafkaProducer(configuration: broker.configuration())
        _ = consume dropped
    }

    private func records(_ numbers: Range<Int>, _ topic: String) -> [ProducerRecord] {
        numbers.map { ProducerRecord(topic: topic, key: [7], value: Array(String($0).utf8)) }
    }

    private func numbers(of topic: String, on broker: TestBroker) async throws -> [Int] {
        try await broker.records(of: topic).compactMap(\.number)
    }
}

extension DeliveryResult {
    var isDelivered: Bool {
        if case .delivered = self { true } else { false }
    }
}

extension [DeliveryResult] {
    var areDelivered: Bool { allSatisfy(\.isDelivered) }
}

extension KafkaProducer {
    fileprivate func breakClient() {
        guard let client = handle?.client else { return }
        rd_kafka_test_fatal_error(client, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, "raised by a test")
    }
}
