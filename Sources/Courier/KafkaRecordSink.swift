// SPDX-License-Identifier: Apache-2.0

package import KafkaClient
import ServiceLifecycle
package import Verification

/// Events and dead letters to a Kafka producer.
package struct KafkaRecordSink: RecordSink, Service {
    private let producer: KafkaProducer
    private let deliveries: String
    private let deadLetters: String

    /// Events go to the topic `deliveries`, records that could not be read to `deadLetters`.
    package init(producer: KafkaProducer, deliveries: String, deadLetters: String) {
        self.producer = producer
        self.deliveries = deliveries
        self.deadLetters = deadLetters
    }

    /// Serves the producer until the worker stops; throws when the producer fails for good.
    package func run() async throws {
        try await Self.serve {
            try await producer.run()
        } closing: {
            await producer.close(within: .seconds(5))
        }
    }

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

    package func publish(
        _ records: [OutboxRecord],
        _ answer: @escaping @Sendable (OutboxRecord, (any Error)?) -> Void
    ) async {
        await producer.take(
            records.map { record in
                OutgoingRecord(message(of: record)) { result in
                    guard record.isDeadLetter, result.failure?.code == .messageTooLarge else {
                        return answer(record, result.failure)
                    }
                    // What no broker takes whole would be tried for ever: its beginning tells as much, and the rest has
                    // its place. A task of its own: the producer, which calls this, cannot wait for itself.
                    Task {
                        let shortened = message(of: record.shortened)
                        await producer.take([OutgoingRecord(shortened) { answer(record, $0.failure) }])
                    }
                }
            }
        )
    }

    private func message(of record: OutboxRecord) -> ProducerRecord {
        ProducerRecord(
            topic: record.isDeadLetter ? deadLetters : deliveries,
            key: record.key,
            value: record.value,
            headers: record.headers.map { RecordHeader(name: $0.name, value: $0.value) }
        )
    }
}

extension OutboxRecord {
    /// A dead letter with the beginning of its value and our own headers, and how long it was in one more.
    fileprivate var shortened: OutboxRecord {
        let length = RecordField("dead-letter-value-bytes", String(value?.count ?? 0))
        var room = 65_536
        // Our own stand last.
        let kept = headers.reversed().filter { header in
            guard header.size <= min(1024, room) else { return false }
            room -= header.size
            return true
        }
        return OutboxRecord(
            stream: stream,
            sequence: sequence,
            isDeadLetter: isDeadLetter,
            key: key.map { Array($0.prefix(1024)) },
            value: value.map { Array($0.prefix(65_536)) },
            headers: kept.reversed() + [length]
        )
    }
}
