// SPDX-License-Identifier: Apache-2.0

extension KafkaConsumer {
    /// Handles the available events, or waits for one.
    ///
    /// Records, other events and answers to commits have a queue each, and only one of them wakes the thread: the
    /// others are checked between short waits, soon while a commit is open.
    func pollEvents(after start: Int, limit: Duration) {
        let deadline = ContinuousClock.now + limit
        // The first round has consumed the wake-up of this call itself; a later one ends the poll.
        while drainEvents() == 0, !serveReplies(), !loop.wakeups.hasOthers(since: start) {
            let remaining = ContinuousClock.now.duration(to: min(deadline, revocation?.deadline ?? deadline))
            guard remaining > .zero else { return }
            let wait = min(remaining, commits.isEmpty ? Self.checkInterval : .milliseconds(1))
            if let event = isReading ? handle?.pollRecord(wait) : handle?.poll(wait) {
                handleEvent(event)
                drainEvents()
                return
            }
        }
    }

    /// Handles events until none is left, the buffer is full or 500 are handled; returns their number.
    @discardableResult
    private func drainEvents() -> Int {
        var count = 0
        while count < 500, let event = handle?.poll(.zero) ?? (isReading ? handle?.pollRecord(.zero) : nil) {
            handleEvent(event)
            count += 1
        }
        return count
    }

    /// True unless the buffer is full, or the records belong to the next owner.
    private var isReading: Bool {
        guard case .running = life.phase else { return false }
        return !buffer.isFull && revocation == nil
    }

    private func handleEvent(_ event: borrowing ClientEvent) {
        switch event.kind {
        case .record: handleRecord(event)
        case .rebalance: handleRebalance(event)
        case .error: if let error = event.error { handleError(error, event.subject) }
        case .commit: handleReply(event)
        case .statistics: handleStatistics(event)
        case .delivery, .other: break
        }
    }

    private func handleRecord(_ event: borrowing ClientEvent) {
        event.forEachMessage { message in
            if let record = message.record(&buffer.topicNames) {
                buffer.append(record)
                let partition = TopicPartition(topic: record.topic, partition: record.partition)
                let brokerTime = message.isTimedByProducer ? nil : record.timestamp
                see(.record(partition, offset: record.offset, brokerTime: brokerTime))
            } else if let error = message.error {
                handleError(error)
            }
        }
    }

    private func handleError(_ error: KafkaError, _ subject: (partition: TopicPartition, offset: Int64)? = nil) {
        if error.code == .partitionEnd {
            guard let (partition, offset) = subject else { return }
            assignment.reachEnd(of: partition, at: offset)
            see(.end(partition))
        } else {
            see(.error(error))
            if error.isFatal { fail(error) }
        }
    }

    /// Shows the watchers from which brokers the partitions are read.
    ///
    /// While the buffer stays full no leader is needed, and an outage of all brokers is reported elsewhere.
    private func handleStatistics(_ event: borrowing ClientEvent) {
        guard !isHeld, watches.brokers.areReachable, revocation == nil else { return }
        guard let statistics = event.statistics.flatMap(ClientStatistics.init) else { return }
        partitionCounts = statistics.topics.mapValues(\.partitionCount)
        see(.statistics(statistics, of: assignment.partitions))
    }

    /// True when the buffer has stayed full for so long that the client may have stopped fetching.
    var isHeld: Bool {
        fullSince.map { $0.duration(to: .now) >= .milliseconds(500) } ?? false
    }

    /// Interval of the checks of queues that do not wake the thread.
    private static let checkInterval = Duration.milliseconds(20)
}
