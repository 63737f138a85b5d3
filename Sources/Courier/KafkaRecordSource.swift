// SPDX-License-Identifier: Apache-2.0

package import KafkaClient
package import Logging
import ServiceLifecycle
package import Verification

/// Records from a Kafka consumer.
package struct KafkaRecordSource: RecordSource, Service {
    private let consumer: KafkaConsumer
    private let area: String
    private let logger: Logger
    private let membership = Membership()

    /// A source whose events in the log begin with `area`, such as `kafka` in `kafka.assigned`.
    package init(consumer: KafkaConsumer, area: String, logger: Logger) {
        self.consumer = consumer
        self.area = area
        self.logger = logger
    }

    /// A number that changes for as long as the consumer polls.
    package var pulse: Int { consumer.pulse }

    /// Whether the consumer is a member of its group.
    package var isMember: Bool { membership.isMember }

    /// Serves the consumer until the worker stops; returns when it has left its group.
    package func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await consumer.run() }
            group.addTask {
                await cancelWhenGracefulShutdown { await report() }
                await consumer.close()
            }
            try await group.waitForAll()
        }
    }

    package func nextBatch(maximum: Int) async throws -> SourceBatch? {
        do {
            guard let batch = try await consumer.nextBatch(maximum: maximum) else { return nil }
            return SourceBatch(records: batch.records.map { InboundRecord($0) }, batch: batch)
        } catch {
            if error.code == .cancelled { return nil }
            throw error
        }
    }

    package func commit(_ batch: SourceBatch) async {
        guard let batch = batch.batch else { return }
        switch await consumer.commit(batch) {
        case .committed:
            break
        case .notAssigned:
            logger.info(
                "offsets were not committed: partitions have moved",
                metadata: ["event": "\(area).not_assigned"]
            )
        case .failed(let error):
            logger.warning(
                "offsets were not committed, the next commit covers them",
                metadata: ["event": "\(area).commit_failed"],
                error: error
            )
        }
    }

    /// One line for each change of the assignment and of the brokers' reachability.
    private func report() async {
        for await notice in consumer.notices {
            membership.note(notice)
            switch notice {
            case .assigned(let partitions):
                log(.info, "partitions assigned", "assigned", partitions)
            case .revoked(let partitions):
                log(.info, "partitions revoked", "revoked", partitions)
            case .lost(let partitions):
                log(.warning, "partitions lost", "lost", partitions)
            case .brokersUnreachable:
                logger.error("no broker can be reached, trying again", metadata: ["event": "\(area).unreachable"])
            case .brokersReachable:
                logger.notice("a broker answers again", metadata: ["event": "\(area).recovered"])
            case .error(let error):
                logger.warning("the consumer reports an error", metadata: ["event": "\(area).error"], error: error)
            }
        }
    }

    private func log(_ level: Logger.Level, _ message: Logger.Message, _ event: String, _ partitions: [TopicPartition])
    {
        let numbers = partitions.map { String($0.partition) }.joined(separator: ",")
        logger.log(level: level, message, metadata: ["event": "\(area).\(event)", "partitions": "\(numbers)"])
    }
}

extension InboundRecord {
    package init(_ record: ConsumerRecord) {
        self.init(
            topic: record.topic,
            partition: record.partition,
            offset: record.offset,
            timestamp: record.timestamp < 0 ? nil : Timestamp(milliseconds: record.timestamp),
            key: record.key,
            value: record.value,
            headers: record.headers.map { RecordField(name: $0.name, value: $0.value) }
        )
    }
}
