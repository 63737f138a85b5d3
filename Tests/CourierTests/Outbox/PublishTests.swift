// SPDX-License-Identifier: Apache-2.0

import Formats
import KafkaClient
import KafkaTools
import Logging
import MockKafka
import ServiceLifecycle
import Synchronization
import TestSupport
import TestTools
import Testing
import Verification

@testable import Courier

@Suite(.timeLimit(.minutes(2))) struct PublishTests {
    /// The running steps, and the ledger that supplies its records.
    private struct Running {
        let ledger: FailingLedger
        let context: StageContext

        private var outbox: BatchQueue<OutboxRecord> { context.outbox }

        /// Runs the steps that publish to a sink, in the order of the pipeline, and stops them afterwards.
        static func with(
            _ sink: any RecordSink & Service,
            limit: Int = 10_000,
            _ body: (Running) async throws -> Void
        ) async throws {
            let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let ledger = FailingLedger(journal: Journal())
            let stage = Running(
                ledger: ledger,
                context: StageContext(ledger: ledger, settings: .test, statistics: Statistics(), logger: quiet)
            )
            let publish = Publish(
                context: stage.context,
                sink: sink,
                unacknowledged: Unacknowledged(limit: limit)
            )
            let (context, answers) = (stage.context, publish.answers.batches(of: 1000))
            let steps: [any Service] = [
                Together(CatchUp(publish), Poll(every: context.settings.sweepInterval, publish.tick)),
                Stage(in: context, from: context.outbox.batches(of: 1000), publish.produce),
                Stage(in: context, from: answers, last: publish.allAnswered, publish.settle),
                Stage(.forget, in: context, from: publish.endings.batches(of: 1000), publish.forget),
                sink,
            ]
            let group = ServiceGroup(configuration: .init(services: steps.reversed(), logger: quiet))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                try await doing {
                    try await body(stage)
                } afterwards: {
                    await group.triggerGracefulShutdown()
                    try await tasks.waitForAll()
                }
            }
        }

        /// Stores events in the ledger, and hands over the first of each stream.
        func add(_ records: [OutboxRecord]) async throws {
            outbox.append(try await ledger.receive([], deadLetters: records).outbox)
        }
    }

    private static func event(_ stream: UInt128, _ sequence: Int32) -> OutboxRecord {
        OutboxRecord(
            stream: UUIDValue(stream),
            sequence: sequence,
            isDeadLetter: false,
            key: Array(String(stream).utf8),
            value: Array(String(sequence).utf8),
            headers: []
        )
    }

    private static func published(_ configuration: KafkaConfiguration) async throws -> [ConsumerRecord] {
        let reader = try await TopicReader.open(configuration: configuration, topic: "deliveries", from: .beginning)
        return try await doing {
            var records: [ConsumerRecord] = []
            try await eventually("the topic is read") {
                records += try await reader.next(maximum: 500, within: .milliseconds(100))
                return await reader.reachedEnd
            }
            return records
        } afterwards: {
            await reader.close()
        }
    }

    /// A mock broker with three partitions of events and one of dead letters, and a sink for it.
    private static func cluster() throws -> (MockCluster, KafkaConfiguration, KafkaRecordSink) {
        let cluster = try MockCluster(brokers: 1)
        try cluster.createTopic("deliveries", partitions: 3)
        try cluster.createTopic("dead-letters", partitions: 1)
        let configuration = KafkaConfiguration(bootstrapServers: cluster.bootstrapServers)
        let sink = KafkaRecordSink(
            producer: try KafkaProducer(configuration: configuration),
            deliveries: "deliveries",
            deadLetters: "dead-letters"
        )
        return (cluster, configuration, sink)
    }

    private static func sequences(_ records: [ConsumerRecord]) -> [String: [String]] {
        Dictionary(grouping: records) { String(decoding: $0.key ?? [], as: UTF8.self) }
            .mapValues { $0.map { String(decoding: $0.value ?? [], as: UTF8.self) } }
    }

    @Test func `a partition without a leader holds up its own events, which go once and in order when it has one`()
        async throws
    {
        let (cluster, configuration, sink) = try Self.cluster()
        defer { cluster.close() }
        let streams: [UInt128] = Array(1...60)
        try await Running.with(sink) { stage in
            try await stage.add(streams.map { Self.event($0, 1) })
            try await eventually("the first of each are published") { stage.ledger.unpublished == 0 }
            let stuck = try await Self.published(configuration).count { $0.partition == 0 }
            try #require(stuck > 0 && stuck < streams.count)

            try cluster.setLeader(of: "deliveries", 0, to: nil)
            try await stage.add(streams.flatMap { stream in (Int32(2)...4).map { Self.event(stream, $0) } })
            // The limit is well below the producer's delivery timeout.
            try await eventually("those of the other partitions are published and forgotten", within: .seconds(15)) {
                stage.ledger.unpublished == 3 * stuck
            }
            try cluster.setLeader(of: "deliveries", 0, to: 1)
            try await eventually("the others too") { stage.ledger.unpublished == 0 }
        }
        let sequences = Self.sequences(try await Self.published(configuration))
        #expect(sequences.count == streams.count)
        #expect(sequences.values.allSatisfy { $0 == ["1", "2", "3", "4"] }, "\(sequences)")
    }

    @Test func `more than a destination without a leader has room for keeps no other's events back`() async throws {
        let (cluster, configuration, sink) = try Self.cluster()
        defer { cluster.close() }
        let streams: [UInt128] = Array(1...300)
        let letters: [UInt128] = Array(1001...1008)
        try await Running.with(sink, limit: 1000) { stage in
            try await stage.add([Self.event(1, 1), Self.deadLetter(1000)])
            try await eventually("both topics are known") {
                stage.ledger.unpublished == 0 && sink.destination(of: Self.event(1, 1)).partition != nil
                    && sink.destination(of: Self.deadLetter(1000)).partition != nil
            }
            let stuck = streams.count { sink.destination(of: Self.event($0, 2)).partition == 0 }
            try #require(stuck > 80 && stuck < 150)
            try cluster.setLeader(of: "deliveries", 0, to: nil)
            try cluster.setLeader(of: "dead-letters", 0, to: nil)
            try await stage.add(letters.map { Self.deadLetter($0) })
            try await eventually("the dead letters are left in the table") { stage.context.outbox.count == 0 }
            try await stage.add(streams.map { Self.event($0, 2) })
            // The limit is well below the producer's delivery timeout.
            try await eventually("those of the other partitions are published", within: .seconds(20)) {
                stage.ledger.unpublished == stuck + letters.count
            }
            try cluster.setLeader(of: "deliveries", 0, to: 1)
            try cluster.setLeader(of: "dead-letters", 0, to: 1)
            try await eventually("the others too") { stage.ledger.unpublished == 0 }
        }
        let published = Self.sequences(try await Self.published(configuration)).values
        #expect(published.reduce(0) { $0 + $1.count } == streams.count + 1, "each once")
    }

    private static func deadLetter(_ stream: UInt128) -> OutboxRecord {
        OutboxRecord(
            stream: UUIDValue(stream),
            sequence: 1,
            isDeadLetter: true,
            key: Array(String(stream).utf8),
            value: [UInt8](repeating: 7, count: 900_000),
            headers: [RecordField("dead-letter-id", "\(stream)"), RecordField("dead-letter-reason", "too_large")]
        )
    }

    @Test func `what a topic refuses goes in order when it takes records again, whatever is left of its lease`()
        async throws
    {
        let sink = RefusingSink()
        try await Running.with(sink) { stage in
            try await stage.add((Int32(1)...3).map { Self.event(1, $0) })
            try await eventually("the first is refused three times") { sink.refused.count >= 3 }
            #expect(Set(sink.refused) == [1])
            sink.accept()
            // In this ledger leases end only on request.
            try await eventually("all are published and forgotten") { stage.ledger.unpublished == 0 }
        }
        #expect(sink.accepted == [1, 2, 3])
    }
}

/// A sink whose topic refuses records until `accept` is called.
private final class RefusingSink: RecordSink, Service {
    private let state = Mutex((isOpen: false, refused: [Int32](), accepted: [Int32]()))

    var refused: [Int32] { state.withLock(\.refused) }
    var accepted: [Int32] { state.withLock(\.accepted) }

    func accept() {
        state.withLock { $0.isOpen = true }
    }

    func destination(of record: OutboxRecord) -> Destination { Destination(topic: "deliveries") }

    func publish(
        _ records: [OutboxRecord],
        _ answer: @escaping @Sendable (OutboxRecord, (any Error)?) -> Void
    ) async {
        for record in records {
            let isOpen = state.withLock { state in
                if state.isOpen {
                    state.accepted.append(record.sequence)
                } else {
                    state.refused.append(record.sequence)
                }
                return state.isOpen
            }
            answer(record, isOpen ? nil : KafkaError(.timedOut))
        }
    }

    func run() async throws {
        try? await gracefulShutdown()
    }
}
