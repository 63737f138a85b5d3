// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import TestTools
import Testing

@Suite(.timeLimit(.minutes(2)))
struct LifecycleTests {
    @Test
    func `a consumer that never ran is closed at once and every later call is harmless`() async throws {
        let broker = try TestBroker(.mock)
        let consumer = try makeConsumer(broker)
        await consumer.close()
        await consumer.close()
        #expect(try await consumer.nextBatch(maximum: 1) == nil)
        #expect(await consumer.lag().isEmpty)
        try await consumer.run()
        for await notice in consumer.notices { Issue.record("\(notice)") }
    }

    @Test
    func `a consumer that is dropped without closing frees its client`() async throws {
        let broker = try TestBroker(.mock)
        let consumer = try makeConsumer(broker)
        let notices = consumer.notices
        _ = consume consumer
        for await notice in notices { Issue.record("\(notice)") }
    }

    @Test
    func `closing wakes the caller that waits for records`() async throws {
        let broker = try TestBroker(.mock)
        let consumer = try makeConsumer(broker)
        async let running: Void = consumer.run()
        async let waiting = consumer.nextBatch(maximum: 1)
        #expect(consumer.pulse != nil)
        await consumer.close()
        #expect(try await waiting == nil)
        try await running
        #expect(consumer.pulse == nil, "who looks at pulses has nothing to see any more")
    }

    @Test
    func `reading ends for the caller that waits and for later ones, and commits go on`() async throws {
        let broker = try TestBroker(.mock)
        let topic = try await broker.makeTopic(partitions: 1)
        try await broker.withConsumer(group: uniqueName("group-"), topic: topic) { consumer in
            try await broker.sendNumbers(0..<1, to: topic, partitions: 1)
            let batch = try #require(try await consumer.nextBatch(maximum: 1))
            async let waiting = consumer.nextBatch(maximum: 1)
            consumer.stopReading()
            #expect(try await waiting == nil)
            try await broker.sendNumbers(1..<2, to: topic, partitions: 1)
            #expect(try await consumer.nextBatch(maximum: 1) == nil)
            #expect(await consumer.commit([batch]) == .committed)
        }
    }

    @Test
    func `a cancelled run leaves the group and returns`() async throws {
        let broker = try TestBroker(.mock)
        let consumer = try makeConsumer(broker)
        // An unstructured task, so that it can be cancelled alone.
        let task = Task { try await consumer.run() }
        async let waiting = consumer.nextBatch(maximum: 1)
        task.cancel()
        try await task.value
        #expect(try await waiting == nil)
    }

    @Test
    func `a second run and a second waiting caller are refused`() async throws {
        let broker = try TestBroker(.mock)
        let topic = try await broker.makeTopic(partitions: 1)
        try await broker.withConsumer(group: uniqueName("group-"), topic: topic) { consumer in
            try await consumer.waitForPartitions(1)
            await #expect(throws: KafkaError(.state)) { try await consumer.run() }
            await #expect(throws: KafkaError(.invalidArgument)) { try await consumer.nextBatch(maximum: 0) }
            await withTaskGroup(of: KafkaError.Code.self) { group in
                for _ in 0..<2 {
                    group.addTask {
                        do throws(KafkaError) {
                            _ = try await consumer.nextBatch(maximum: 1)
                            return .none
                        } catch {
                            return error.code
                        }
                    }
                }
                #expect(await group.next() == .conflict)
                group.cancelAll()
                #expect(await group.next() == .cancelled)
            }
            // The cancelled call consumed no records.
            try await broker.sendNumbers(0..<1, to: topic, partitions: 1)
            #expect(try await consumer.nextBatch(maximum: 1)?.records.count == 1)
        }
    }

    @Test
    func `calls get in quickly while the consumer waits for records`() async throws {
        let broker = try TestBroker(.mock)
        let topic = try await broker.makeTopic(partitions: 1)
        try await broker.withConsumer(group: uniqueName("group-"), topic: topic) { consumer in
            try await consumer.waitForPartitions(1)
            var times: [Duration] = []
            for _ in 0..<200 {
                let start = ContinuousClock.now
                _ = await consumer.lag()
                times.append(.now - start)
            }
            // A call that did not interrupt the poll would wait for its end, 250 ms.
            #expect(times.sorted()[100] < .milliseconds(125))
        }
    }

    @Test
    func `an option that breaks a promise is refused by its name`() throws {
        for option in KafkaConfiguration.refusedOptions {
            let configuration = KafkaConfiguration(bootstrapServers: "127.0.0.1:1", options: [option: "secret"])
            #expect(throws: KafkaError(.invalidArgument, option: option)) {
                try KafkaProducer(configuration: configuration)
            }
            #expect(throws: KafkaError(.invalidArgument, option: option)) {
                try KafkaConsumer(configuration: configuration, groupID: "group", topics: ["topic"])
            }
        }
    }

    @Test(arguments: [
        ["session.timeout.ms": "hunter2"], ["no.such.option": "hunter2"], ["ssl.ca.location": "/hunter2"],
    ])
    func `a wrong option is named without its value`(_ options: [String: String]) throws {
        var options = options
        if options["ssl.ca.location"] != nil { options["security.protocol"] = "ssl" }
        let configuration = KafkaConfiguration(bootstrapServers: "127.0.0.1:1", options: options)
        let error = try #require(throws: KafkaError.self) { try KafkaProducer(configuration: configuration) }
        #expect(options.keys.contains(error.option ?? ""))
        #expect(!error.description.contains("hunter2"))
    }

    @Test
    func `the library tells its version`() {
        #expect(librdkafkaVersion.hasPrefix("2."))
    }

    private func makeConsumer(_ broker: TestBroker) throws -> KafkaConsumer {
        try KafkaConsumer(
            configuration: broker.groupConfiguration(),
            groupID: uniqueName("group-"),
            topics: [uniqueName("topic-")]
        )
    }
}
