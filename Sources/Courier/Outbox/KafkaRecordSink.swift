// SPDX-License-Identifier: Apache-2.0

package import KafkaClient
import ServiceLifecycle
package import Verification

/// Publishes events and dead letters through a Kafka producer.
package struct KafkaRecordSink: RecordSink, Service {
    private let producer: KafkaProducer
    private let deliveries: String
    private let deadLetters: String
    private let faults: TopicFaults

    /// Publishes events to the topic `deliveries`, and unreadable records to `deadLetters`.
    package init(
        producer: KafkaProducer,
        deliveries: String,
        deadLetters: String,
        faults: TopicFaults = TopicFaults()
    ) {
        self.producer = producer
        self.faults = faults
        self.deliveries = deliveries
        self.deadLetters = deadLetters
    }

    /// Serves the producer until the worker stops; throws when the producer fails for good.
    package func run() async throws {
        try await Self.serve {
            async let noting: Void = noteTrouble()
            try await producer.run()
            await noting
        } closing: {
            await producer.close(within: .seconds(5))
        }
    }

    /// Reports stuck topics and partitions before the client gives up on their records.
    private func noteTrouble() async {
        for await case .stuck(let error) in producer.notices {
            if let topic = error.topic { faults.isStuck(error, topic) }
        }
    }

    private func note(_ result: DeliveryResult, of record: OutboxRecord) {
        switch result {
        case .delivered(let partition, _): faults.published(to: topic(of: record), partition)
        case .failed(let error): faults.cannotPublish(error, to: topic(of: record))
        }
    }

    private func topic(of record: OutboxRecord) -> String { record.isDeadLetter ? deadLetters : deliveries }

    /// Runs `run`, and calls `close` when the worker stops.
    ///
    /// A failure of `run` cancels the wait for the stop, so it is thrown at once.
    static func serve(
        _ run: @escaping @Sendable () async throws -> Void,
        closing close: @escaping @Sendable () async -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await run() }
            group.addTask {
                try? await gracefulShutdown()
                await close()
            }
            while try await group.next() != nil {}
        }
    }

    package func destination(of record: OutboxRecord) -> Destination {
        producer.destination(of: record.key, in: topic(of: record))
    }

    package func publish(
        _ records: [OutboxRecord],
        _ answer: @escaping @Sendable (OutboxRecord, (any Error)?) -> Void
    ) async {
        await producer.take(
            records.map { record in
                guard record.isDeadLetter else {
                    return OutgoingRecord(message(of: record)) { result in
                        note(result, of: record)
                        answer(record, result.failure)
                    }
                }
                return outgoing(record, room: record.roomInOneRecord, answer)
            }
        )
    }

    /// A dead letter with as much of its record as fits.
    ///
    /// If the topic rejects its size, the letter is sent again with less.
    private func outgoing(
        _ record: OutboxRecord,
        room: Int?,
        _ answer: @escaping @Sendable (OutboxRecord, (any Error)?) -> Void
    ) -> OutgoingRecord {
        OutgoingRecord(message(of: room.map { record.shortened(to: $0) } ?? record)) { result in
            guard result.failure?.code.saysTooLarge == true, let less = record.room(below: room) else {
                note(result, of: record)
                return answer(record, result.failure)
            }
            // The broker would reject the full record forever. A shortened one keeps its beginning, and names the
            // topic, partition and offset of the rest. The task is necessary: the producer runs this callback and
            // cannot wait for itself.
            Task { await producer.take([outgoing(record, room: less, answer)]) }
        }
    }

    private func message(of record: OutboxRecord) -> ProducerRecord {
        ProducerRecord(
            topic: topic(of: record),
            key: record.key,
            value: record.value,
            headers: record.headers.map { RecordHeader(name: $0.name, value: $0.value) }
        )
    }
}
