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

    /// Serves the producer until the worker stops.
    package func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await producer.run() }
            group.addTask {
                try? await gracefulShutdown()
                await producer.close(within: .seconds(5))
            }
            try await group.waitForAll()
        }
    }

    package func publish(_ records: [OutboxRecord]) async -> [OutboxRecord] {
        let results = await producer.send(
            records.map { record in
                ProducerRecord(
                    topic: record.isDeadLetter ? deadLetters : deliveries,
                    key: record.key,
                    value: record.value,
                    headers: record.headers.map { RecordHeader(name: $0.name, value: $0.value) }
                )
            }
        )
        return zip(records, results).compactMap { record, result in
            if case .delivered = result { record } else { nil }
        }
    }
}
