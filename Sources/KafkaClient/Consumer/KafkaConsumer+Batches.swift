// SPDX-License-Identifier: Apache-2.0

extension KafkaConsumer {
    /// Waits for records and returns those available, at most `maximum`; nil once the consumer closes or reading ends.
    ///
    /// A quiet topic gives small batches at once, a busy one large ones. Only one call at a time: a second one throws
    /// `.conflict`. A cancelled call throws `.cancelled` and removes no records.
    package func nextBatch(maximum: Int) async throws(KafkaError) -> RecordBatch? {
        guard maximum > 0 else { throw KafkaError(.invalidArgument) }
        guard isOpen, !hasStoppedReading else { return nil }
        guard waiter == nil else { throw KafkaError(.conflict) }
        if Task.isCancelled { throw KafkaError(.cancelled) }
        if !buffer.isEmpty { return assignment.handOut(buffer.take(maximum)) }
        lastCall += 1
        let number = lastCall
        let answer: Result<RecordBatch?, KafkaError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(returning: .failure(KafkaError(.cancelled)))
                } else {
                    waiter = Waiter(number: number, maximum: maximum, continuation: continuation)
                }
            }
        } onCancel: {
            // A cancellation handler cannot wait for the actor, so a task does; it ends with that one call.
            Task { await self.cancelWaiter(number) }
        }
        return try answer.get()
    }

    /// Ends reading: the current call of `nextBatch` and all later ones return nil.
    ///
    /// Commits still work.
    nonisolated package func stopReading() {
        // A shutdown handler calls this, and cannot wait for the actor.
        Task { await self.endReading() }
    }

    private func endReading() {
        hasStoppedReading = true
        answerWaiter(.success(nil))
    }

    /// Commits the offsets after batches, all in one request.
    ///
    /// Never throws: after a rebalance the result is `.notAssigned`, and the next commit covers any other failure.
    /// Batches are committed in the order in which they were handed out. `places` are the unfinished records of them:
    /// offsets past those are not committed.
    package func commit(_ batches: [RecordBatch], before places: [RecordPlace] = []) async -> CommitOutcome {
        guard handle != nil else { return .notAssigned }
        switch assignment.commit(batches, before: places) {
        case .notAssigned:
            return .notAssigned
        case .covered:
            assignment.settle(batches)
            return .committed
        case .offsets(let offsets):
            return await commit(batches, offsets: offsets)
        }
    }

    /// Returns the available records to the waiting caller.
    func deliver() {
        guard let waiter, !buffer.isEmpty else { return }
        answerWaiter(.success(assignment.handOut(buffer.take(waiter.maximum))))
    }

    func answerWaiter(_ answer: Result<RecordBatch?, KafkaError>) {
        waiter?.continuation.resume(returning: answer)
        waiter = nil
    }

    private func cancelWaiter(_ number: Int) {
        if waiter?.number == number { answerWaiter(.failure(KafkaError(.cancelled))) }
    }

    private var isOpen: Bool {
        switch life.phase {
        case .idle, .running: true
        case .closing, .closed: false
        }
    }

    private func commit(_ batches: [RecordBatch], offsets: [TopicPartition: Int64]) async -> CommitOutcome {
        lastCall += 1
        let token = lastCall
        do {
            try handle?.commit(offsets, token: token)
        } catch {
            assignment.settle(batches)
            return outcome(of: error)
        }
        return await withCheckedContinuation { continuation in
            commits[token] = PendingCommit(
                batches: batches,
                offsets: offsets,
                deadline: .now + Self.commitLimit,
                continuation: continuation
            )
        }
    }

    /// Handles the available answers, and fails commits that timed out; true when a caller was answered.
    @discardableResult
    func serveReplies() -> Bool {
        let count = commits.count
        while let event = handle?.pollReply(.zero) {
            handleReply(event)
        }
        if !commits.isEmpty {
            let now = ContinuousClock.now
            for (token, pending) in commits where pending.deadline <= now {
                answerCommit(token, error: KafkaError(.timedOut))
            }
        }
        return commits.count != count
    }

    /// Handles the answer to a topic id request, or to a commit, where each partition may have an error.
    func handleReply(_ event: borrowing ClientEvent) {
        guard event.kind == .commit else {
            if let id = event.topicID { see(.topicID(id)) }
            return
        }
        let error = event.entries.lazy.compactMap(\.error).first ?? event.error
        if error == nil { see(.committed) }
        answerCommit(event.token, error: error)
    }

    private func answerCommit(_ token: Int, error: KafkaError?) {
        guard let pending = commits.removeValue(forKey: token) else { return }
        assignment.settle(pending.batches, committed: error == nil ? pending.offsets : [:])
        pending.continuation.resume(returning: error.map(outcome(of:)) ?? .committed)
    }

    private func outcome(of error: KafkaError) -> CommitOutcome {
        error.code.saysNotOwner ? .notAssigned : .failed(error)
    }

    /// Timeout of a commit; librdkafka itself keeps one for as long as its coordinator is unreachable.
    private static let commitLimit = Duration.seconds(10)
}
