// SPDX-License-Identifier: Apache-2.0

package import KafkaClient
import PinnedThread

/// Reads all partitions of a topic without a group, to follow it or to read its past.
///
/// It commits nothing and disturbs no group.
package actor TopicReader {
    package enum Start: Hashable, Sendable {
        case beginning

        /// Only records that are written from now on.
        case end

        /// Records from the first one at or after a time, in milliseconds since 1970.
        case timestamp(Int64)
    }

    private let thread = PinnedThread()
    private let topic: String
    private let start: Start
    private var handle: ClientHandle?
    private var topicNames = TopicNames()
    private var failure: KafkaError?

    /// The end offsets at the time of opening, for partitions that are not read up to them yet.
    private var remainingEnds: [TopicPartition: Int64] = [:]

    /// Partitions whose end offset comes from a query only.
    ///
    /// Some brokers answer it with the first offset of the last batch, and report the true end with the first fetched
    /// records.
    private var unconfirmedEnds: Set<TopicPartition> = []

    /// Partitions that returned a record at or after the start time.
    private var startedPartitions: Set<TopicPartition> = []

    private var endChanged = false

    nonisolated package var unownedExecutor: UnownedSerialExecutor {
        unsafe thread.asUnownedSerialExecutor()
    }

    /// Opens a reader, which returns every record that is written after this call.
    ///
    /// Opening is retried while a partition has no leader, and for 2 s when a broker does not know the topic, which may
    /// have been created just now.
    package static func open(
        configuration: KafkaConfiguration,
        topic: String,
        from start: Start,
        within limit: Duration = .seconds(10)
    ) async throws(KafkaError) -> TopicReader {
        let reader = try TopicReader(configuration: configuration, topic: topic, start: start)
        let openedAt = ContinuousClock.now
        let deadline = openedAt + limit
        while true {
            do {
                try await reader.assign(within: ContinuousClock.now.duration(to: deadline))
                return reader
            } catch {
                let end: ContinuousClock.Instant? =
                    switch error.code {
                    case .notLeader, .leaderNotAvailable: deadline
                    case .unknownTopicOrPartition, .unknownPartition: min(deadline, openedAt + .seconds(2))
                    default: nil
                    }
                guard let end, ContinuousClock.now < end, !Task.isCancelled else {
                    await reader.close()
                    throw error
                }
                // No notification says that a leader was elected, so poll.
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    private init(configuration: KafkaConfiguration, topic: String, start: Start) throws(KafkaError) {
        self.topic = topic
        self.start = start
        handle = try ClientHandle(
            .consumer,
            settings: try configuration.settings(defaults: Self.defaults, fixed: Self.fixed)
        )
    }

    /// True when every record that existed at the time of opening was returned.
    package var reachedEnd: Bool { remainingEnds.isEmpty }

    /// Returns the next records of any partition, at most `maximum`, as soon as there are some; none at the time limit.
    ///
    /// Throws errors that make further reading useless, and `.closed` after `close()`. A temporary outage of brokers
    /// does not throw.
    package nonisolated func next(maximum: Int, within limit: Duration) async throws(KafkaError) -> [ConsumerRecord] {
        let deadline = ContinuousClock.now + limit
        while true {
            let remaining = ContinuousClock.now.duration(to: deadline)
            let (records, isAtEnd) = try await read(maximum, within: min(max(remaining, .zero), .milliseconds(100)))
            if !records.isEmpty || isAtEnd || remaining <= .zero || Task.isCancelled { return records }
        }
    }

    package func close() async {
        guard let handle = handle.take() else { return }
        // A client that takes longer is freed in the background.
        _ = handle.close(within: .seconds(2))
    }

    /// True once after the end was reached, so that a reader of the past does not wait for more.
    private func reachedEndJustNow() -> Bool {
        defer { endChanged = false }
        return endChanged
    }

    private func assign(within limit: Duration) throws(KafkaError) {
        do {
            try begin(within: limit)
        } catch {
            throw handle?.explain(error) ?? error
        }
    }

    private func begin(within limit: Duration) throws(KafkaError) {
        guard let count = try handle?.partitionCount(of: topic, within: limit) else { throw KafkaError(.closed) }
        let partitions = (0..<count).map { TopicPartition(topic: topic, partition: Int32(clamping: $0)) }
        var bounds: [TopicPartition: Range<Int64>] = [:]
        for partition in partitions {
            bounds[partition] = try handle?.bounds(of: partition, within: limit)
        }
        var starts = bounds.mapValues { start == .beginning ? $0.lowerBound : $0.upperBound }
        if case .timestamp(let timestamp) = start {
            let found = try handle?.offsets(at: partitions.map { ($0, timestamp) }, within: limit) ?? [:]
            for (partition, offset) in found where offset >= 0 { starts[partition] = offset }
        }
        remainingEnds = bounds.mapValues(\.upperBound).filter { starts[$0.key] ?? 0 < $0.value }
        unconfirmedEnds = Set(remainingEnds.keys)
        try handle?.assign(starts.map { ($0.key, $0.value) })
    }

    private func read(
        _ maximum: Int,
        within limit: Duration
    ) throws(KafkaError) -> (records: [ConsumerRecord], isAtEnd: Bool) {
        guard handle != nil else { throw KafkaError(.closed) }
        guard maximum > 0 else { throw KafkaError(.invalidArgument) }
        var records: [ConsumerRecord] = []
        var wait = limit
        while records.count < maximum, failure == nil, let event = handle?.poll(wait) {
            wait = .zero
            switch event.kind {
            case .record:
                event.forEachMessage { message in
                    guard let record = message.record(&topicNames) else { return }
                    if !isTooOld(record) { records.append(record) }
                    pass(record)
                }
            case .error:
                failure = handleError(event)
            case .delivery, .rebalance, .commit, .statistics, .other:
                break
            }
        }
        if records.isEmpty, let failure {
            self.failure = nil
            throw failure
        }
        return (records, reachedEndJustNow())
    }

    /// True for leading records that are older than the start time, which a broker without a time index returns.
    private func isTooOld(_ record: ConsumerRecord) -> Bool {
        guard case .timestamp(let timestamp) = start else { return false }
        let partition = TopicPartition(topic: record.topic, partition: record.partition)
        if startedPartitions.contains(partition) { return false }
        if record.timestamp >= 0, record.timestamp < timestamp { return true }
        startedPartitions.insert(partition)
        return false
    }

    private func pass(_ record: ConsumerRecord) {
        let partition = TopicPartition(topic: record.topic, partition: record.partition)
        guard var end = remainingEnds[partition] else { return }
        if unconfirmedEnds.remove(partition) != nil, let fetched = handle?.cachedEnd(of: partition) {
            end = max(end, fetched)
            remainingEnds[partition] = end
        }
        if record.offset >= end - 1 { leave(partition) }
    }

    private func leave(_ partition: TopicPartition) {
        guard remainingEnds.removeValue(forKey: partition) != nil else { return }
        if remainingEnds.isEmpty { endChanged = true }
    }

    /// Returns an error that makes further reading useless; nil for others.
    private func handleError(_ event: borrowing ClientEvent) -> KafkaError? {
        guard let error = event.error else { return nil }
        if error.code == .partitionEnd {
            // The last offsets of a partition may be transaction markers, which are not returned as records.
            if let partition = event.subject?.partition { leave(partition) }
            return nil
        }
        return error.isRetriable ? nil : error
    }

    private static let defaults = [
        "check.crcs": "true",
        "fetch.wait.max.ms": "50",
        "queued.max.messages.kbytes": "16384",
    ]

    private static let fixed = [
        "auto.offset.reset": "earliest",
        "enable.auto.commit": "false",
        "enable.auto.offset.store": "false",
        "enable.partition.eof": "true",
        // The library needs a group id to assign partitions; the group is never joined.
        "group.id": "code-courier-reader",
    ]
}
