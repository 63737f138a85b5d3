// SPDX-License-Identifier: Apache-2.0

package import KafkaClient
import ServiceLifecycle
package import Verification

/// Events and dead letters to a Kafka producer.
package struct KafkaRecordSink: RecordSink, Service {
    private let producer: KafkaProducer
    private let deliveries: String
    private let deadLetters: String
    private let faults: TopicFaults

    /// Events go to the topic `deliveries`, records that could not be read to `deadLetters`.
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

    /// Notes topics and partitions that take nothing before the client gives their records up.
    private func noteTrouble() async {
        for await case .stuck(let error) in producer.notices {
            if let topic = error.topic { faults.isStuck(error, topic) }
        }
    }

    /// Notes what became of a record.
    private func note(_ result: DeliveryResult, of record: OutboxRecord) {
        switch result {
        case .delivered(let partition, _): faults.published(to: topic(of: record), partition)
        case .failed(let error): faults.cannotPublish(error, to: topic(of: record))
        }
    }

    private func topic(of record: OutboxRecord) -> String { record.isDeadLetter ? deadLetters : deliveries }

    /// Runs what works until it is closed, and closes it when the worker stops.
    ///
    /// A failure ends both at once: it must not wait for a stop that nobody asks for.
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

    /// A dead letter with as many bytes of its record as there is room; where a topic takes no record of this size, it is
    /// sent again with less.
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
            // What no broker takes whole would be tried for ever: its beginning tells as much, and the rest has its
            // place. A task of its own: the producer, which calls this, cannot wait for itself.
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
