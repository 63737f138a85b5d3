// SPDX-License-Identifier: Apache-2.0

import Formats
package import KafkaClient
package import Logging
package import Logs
import ServiceLifecycle
import Synchronization
package import Verification

/// Reads records from a Kafka consumer.
package struct KafkaRecordSource: RecordSource, Service {
    private let consumer: KafkaConsumer
    private let topic: String
    private let faults: TopicFaults
    private let events: LoggedEvent.Consumer
    private let statistics: Statistics
    private let logger: Logger
    private let membership = Membership()

    /// Makes a source that logs its notices as `events`.
    package init(
        consumer: KafkaConsumer,
        topic: String,
        faults: TopicFaults,
        events: LoggedEvent.Consumer,
        statistics: Statistics,
        logger: Logger
    ) {
        self.consumer = consumer
        self.topic = topic
        self.faults = faults
        self.events = events
        self.statistics = statistics
        self.logger = logger
    }

    /// The records that are not handed out yet; queries brokers only while reading is paused.
    package func lag() async -> Lag {
        let lag = await consumer.lag()
        return Lag(
            records: Dictionary(lag.map { ($0.partition, $0.lag) }) { first, _ in first },
            oldest: lag.map(\.age).max() ?? .zero
        )
    }

    package func ownedShare() async -> Double? { await consumer.ownedShare() }

    /// A number that changes as long as the consumer polls; nil after it has left its group.
    package var pulse: Int? { consumer.pulse }

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

    package func stopReading() {
        consumer.stopReading()
    }

    package func commit(_ positions: [SourcePosition], before waiting: [WaitingRecord]) async -> Bool {
        let places = waiting.compactMap { waiting in
            waiting.position.batch.map {
                RecordPlace(batch: $0, topic: waiting.record.topic, waiting.record.partition, waiting.record.offset)
            }
        }
        switch await consumer.commit(positions.compactMap(\.batch), before: places) {
        case .committed:
            return true
        case .notAssigned:
            logger.log(events.notAssigned)
            return true
        case .failed(let error):
            statistics.noteFailure(of: .kafka)
            logger.log(events.commitFailed, error.logFields)
            return false
        }
    }

    /// Logs each change of the assignment and of the brokers' reachability.
    private func report() async {
        for await notice in consumer.notices {
            membership.note(notice)
            switch notice {
            case .joining: logger.log(events.joining, [.group: .text(consumer.groupID)])
            case .assigned(let partitions): logger.log(events.assigned, [.partitions: Self.numbers(partitions)])
            case .revoked(let partitions): logger.log(events.revoked, [.partitions: Self.numbers(partitions)])
            case .lost(let partitions): logger.log(events.lost, [.partitions: Self.numbers(partitions)])
            case .recordsLost(let partition, let offsets):
                logger.log(events.recordsLost, Self.fields(of: offsets, in: partition))
            case .producerTimes(let topic): logger.log(events.producerTimes, [.topic: .text(topic)])
            case .topicRecreated(let topic): logger.log(events.topicRecreated, [.topic: .text(topic)])
            case .groupShared(let conflict):
                logger.log(events.groupShared, [.group: .text(consumer.groupID), .reason: .text(conflict.rawValue)])
            case .cannotRead(let error):
                statistics.noteFailure(of: .kafka)
                faults.cannotRead(error, topic, events)
            case .partitionReadsAgain(let partition): faults.readsAgain(partition)
            case .readsAgain: faults.readsAgain(topic, events)
            case .brokersUnreachable(let error):
                statistics.noteFailure(of: .kafka)
                logger.log(events.unreachable, error?.logFields ?? [:])
            case .brokersReachable: logger.log(events.recovered)
            case .error(let error):
                statistics.noteFailure(of: .kafka)
                logger.log(events.failed, error.logFields)
            }
        }
    }

    private static func fields(of offsets: Range<Int64>, in partition: TopicPartition) -> [LogField: LogValue] {
        [
            .topic: .text(partition.topic), .partition: .integer(Int64(partition.partition)),
            .offset: .integer(offsets.lowerBound), .lastOffset: .integer(offsets.upperBound - 1),
            .records: LogValue(offsets.count),
        ]
    }

    private static func numbers(_ partitions: [TopicPartition]) -> LogValue {
        .text(partitions.map { String($0.partition) }.joined(separator: ","))
    }
}

/// Tracks from a consumer's notices whether it is a member of its group.
///
/// A revocation in a rebalance does not end the membership: the same rebalance assigns a new share. Unreachable brokers
/// do not end it either: the group revokes the partitions after the session timeout.
package final class Membership: Sendable {
    private let state = Mutex(false)

    package init() {}

    /// True once the group has assigned partitions, or an empty assignment.
    package var isMember: Bool { state.withLock(\.self) }

    package func note(_ notice: ConsumerNotice) {
        switch notice {
        case .assigned: state.withLock { $0 = true }
        case .lost: state.withLock { $0 = false }
        case .joining, .revoked, .brokersUnreachable, .brokersReachable, .cannotRead, .partitionReadsAgain, .readsAgain,
            .error, .recordsLost, .producerTimes, .topicRecreated, .groupShared:
            break
        }
    }
}

extension InboundRecord {
    package convenience init(_ record: ConsumerRecord) {
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

/// A source, and the commits of its offsets: many recorded batches in one commit, concurrently with reading.
///
/// Nothing waits for a commit, and each costs the broker as much as reading a batch. A record that is read again before
/// its commit is recognized as known. A failed commit is repeated, since on a quiet topic no later one would cover it.
struct OffsetCommits: Sendable {
    let source: any RecordSource

    /// Called after each commit, successful or not.
    var didCommit: @Sendable () -> Void = {}

    /// Records that are read and not durable: offsets past them are not committed.
    let waiting = WaitingRecords()

    /// The positions of batches that are durable, except for `waiting`.
    let positions = BatchQueue<SourcePosition>()

    var batches: BatchQueue<SourcePosition>.Batches { positions.batches(of: .max) { .milliseconds(200) } }

    /// Time between a failed commit and the next one.
    private static let pause = Duration.seconds(1)

    func commit(_ batches: [SourcePosition]) async {
        let isDone = await source.commit(batches, before: waiting.all)
        didCommit()
        if isDone { return }
        await Task.pause(until: .now + Self.pause)
        // The newest position covers the earlier ones. A finished queue rejects it: the next worker reads the records
        // again.
        positions.append(batches.suffix(1))
    }
}
