// SPDX-License-Identifier: Apache-2.0

extension KafkaConsumer {
    /// Handles the available events, or waits for one.
    ///
    /// Records are read one at a time, so that the client's position is exactly after the last one in the buffer: the
    /// batch calls of librdkafka below 2.1 skip records after a pause.
    func pollEvents(after start: Int, limit: Duration) {
        if drainEvents() > 0 { return }
        let deadline = ContinuousClock.now + limit
        // The drain has consumed the wake-up of this call itself; a later one ends the poll.
        while !loop.wakeups.hasOthers(since: start) {
            let remaining = ContinuousClock.now.duration(to: deadline)
            guard remaining > .zero else { return }
            // Commit answers arrive in another queue, which cannot wake this poll: check it often while one is due.
            let isAnswerDue = !commits.isEmpty || revocation != nil
            if let event = handle?.poll(isAnswerDue ? min(remaining, .milliseconds(1)) : remaining) {
                handleEvent(event)
                drainEvents()
                return
            }
            guard isAnswerDue else {
                return
            }
            if serveReplies() { return }
            if let revocation, revocation.deadline <= .now { return }
        }
    }

    /// Waits for an answer to a commit, or for a call, without reading records.
    func waitForReplies(after start: Int) {
        if serveReplies() || loop.wakeups.hasOthers(since: start) { return }
        if let event = handle?.pollReply(.milliseconds(100)) { handleReply(event) }
    }

    /// Handles events until none is left, the buffer is full or 500 are handled; returns their number.
    @discardableResult
    private func drainEvents() -> Int {
        var count = 0
        while count < 500, !(buffer.isFull && flow.mode == .flowing), let event = handle?.poll(.zero) {
            handleEvent(event)
            count += 1
        }
        return count
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
            // During a revocation the records belong to the next owner.
            guard revocation == nil, case .running = life.phase else { return }
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
    /// While reading is paused no leader is needed, and an outage of all brokers is reported elsewhere.
    private func handleStatistics(_ event: borrowing ClientEvent) {
        guard flow.mode != .paused, watches.brokers.areReachable, revocation == nil else { return }
        guard let statistics = event.statistics.flatMap(ClientStatistics.init) else { return }
        see(.statistics(statistics, of: assignment.partitions))
    }

    /// Pauses or resumes partitions by the state of the buffer.
    func controlFlow() {
        guard revocation == nil, !assignment.partitions.isEmpty else { return }
        switch flow.update(isFull: buffer.isFull, hasRoom: buffer.hasRoom, now: .now) {
        case .nothing: break
        case .pause:
            do { try handle?.pause(assignment.partitions) } catch { notify(.error(error)) }
        case .resume: resume()
        }
    }

    /// Drops the buffered records, for which partitions may be paused.
    func clearBuffer() {
        buffer.removeAll()
        if flow.mode == .paused { resume() }
        flow.reset()
    }

    private func resume() {
        do { try handle?.resume(assignment.partitions) } catch { notify(.error(error)) }
    }
}
