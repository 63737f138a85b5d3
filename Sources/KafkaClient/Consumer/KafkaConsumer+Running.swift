// SPDX-License-Identifier: Apache-2.0

extension KafkaConsumer {
    /// Joins the group soon, and polls until `close()` is called, the task is cancelled or the client fails fatally.
    ///
    /// Returns only when the consumer is closed. A call after `close()` returns at once. A call while another one polls
    /// throws `.state`.
    nonisolated package func run() async throws(KafkaError) {
        try await poll()
    }

    /// Leaves the group and frees the client; records that were not handed out stay uncommitted.
    ///
    /// Handed-out batches can be committed until a second before the limit. At worst it takes little longer than the
    /// limit; then the group detects the absence by its session timeout.
    package func close(within limit: Duration = .seconds(5)) async {
        await end(within: limit)
    }

    /// Queries the group's members, which may delay joining.
    func start() {
        perform([.askMembers(within: .seconds(1))])
    }

    func fail(_ error: KafkaError) {
        if life.failure == nil { life.failure = error }
        beginClosing(within: ClientLife.closeLimit)
    }

    /// Performs one round of work; false when the consumer is closed.
    ///
    /// Without work it blocks the thread for at most `idleLimit`, and never while calls wait.
    func serveOnce(after start: Int) -> Bool {
        loop.rounds.add()
        switch life.phase {
        case .idle:
            return true
        case .running:
            serveReplies()
            finishRevocation()
            pollEvents(after: start, limit: Self.idleLimit)
            deliver()
            fullSince = buffer.isFull ? fullSince ?? .now : nil
            checkWatches()
            return true
        case .closing(let deadline):
            return serveClosing(after: start, deadline: deadline)
        case .closed:
            return false
        }
    }

    private func serveClosing(after start: Int, deadline: ContinuousClock.Instant) -> Bool {
        if !isLeaving {
            isLeaving = true
            buffer.removeAll()
            answerWaiter(.success(nil))
            if handle?.beginClosing() != nil { return finish() }
        }
        serveReplies()
        finishRevocation()
        if handle?.isClosed ?? true || ContinuousClock.now >= deadline { return finish() }
        pollEvents(after: start, limit: .milliseconds(10))
        return true
    }

    /// Frees the client and resumes all waiting calls.
    private func finish() -> Bool {
        loop.detach()
        for pending in commits.values { pending.continuation.resume(returning: .failed(KafkaError(.closed))) }
        commits = [:]
        assignment.clear()
        buffer.removeAll()
        if let handle = handle.take(), !handle.close(within: ClientLife.destructionLimit) {
            notify(.error(KafkaError(.timedOut)))
        }
        noticeSink.finish()
        return finishClosing()
    }

    func notify(_ notice: ConsumerNotice) {
        noticeSink.yield(notice)
    }

    /// Maximum time for which the thread blocks, and so the maximum delay of a cancellation of `run()`.
    private static let idleLimit = Duration.milliseconds(250)
}
