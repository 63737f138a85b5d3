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
        while !wakeups.hasOthers(since: start) {
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
        if serveReplies() || wakeups.hasOthers(since: start) { return }
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
        case .error: if let error = event.error { handleError(error, offset: event.subjectOffset) }
        case .commit: handleReply(event)
        case .statistics: if let statistics = event.statistics { noteStatistics(statistics) }
        case .delivery, .other: break
        }
    }

    private func handleRecord(_ event: borrowing ClientEvent) {
        event.forEachMessage { message in
            // During a revocation the records belong to the next owner.
            guard revocation == nil, case .running = phase else { return }
            if let record = message.record(&topicNames) {
                buffer.append(record)
                let partition = TopicPartition(topic: record.topic, partition: record.partition)
                lossWatch.read(partition, record.offset)
                brokersAnswered()
                noteReadable(partition)
                noteTime(of: record, in: partition, isProducers: message.isTimedByProducer)
            } else if let error = message.error {
                handleError(error)
            }
        }
    }

    /// Records a record's time; reports once for each topic that its records have their producers' times.
    private func noteTime(of record: ConsumerRecord, in partition: TopicPartition, isProducers: Bool) {
        if !isProducers {
            identity.read(partition, record.timestamp, record.offset)
        } else if topicsTimedByProducers.insert(record.topic).inserted {
            notify(.producerTimes(topic: record.topic))
        }
    }

    private func handleError(_ error: KafkaError, offset: Int64? = nil) {
        if error.broker != nil { connectionFault = error }
        switch error.code {
        case .partitionEnd:
            guard let topic = error.topic, let partition = error.partition, let offset else { return }
            let place = TopicPartition(topic: topic, partition: partition)
            assignment.reachEnd(of: place, at: offset)
            brokersAnswered()
            noteReadable(place)
        case .allBrokersDown:
            if areBrokersReachable { notify(.brokersUnreachable(connectionFault)) }
            areBrokersReachable = false
        default:
            if error.isFatal {
                notify(.error(error))
                return fail(error)
            }
            if error.reason == .groupConflict { tell(.otherProtocol) }
            guard let fault = readFaults.note(error, of: topics) else { return notify(.error(error)) }
            notify(.cannotRead(fault))
        }
    }

    func brokersAnswered() {
        if !areBrokersReachable { notify(.brokersReachable) }
        areBrokersReachable = true
        connectionFault = nil
    }

    /// Pauses or resumes partitions by the state of the buffer.
    func controlFlow() {
        guard revocation == nil, !assignment.partitions.isEmpty else { return }
        switch flow.update(isFull: buffer.isFull, hasRoom: buffer.hasRoom, now: .now) {
        case .nothing: break
        case .pause:
            pausedPartitions = assignment.partitions
            do { try handle?.pause(pausedPartitions) } catch { notify(.error(error)) }
        case .resume: resumePaused()
        }
    }

    func resumePaused() {
        guard !pausedPartitions.isEmpty else { return }
        do { try handle?.resume(pausedPartitions) } catch { notify(.error(error)) }
        pausedPartitions = []
    }
}
