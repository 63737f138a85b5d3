// SPDX-License-Identifier: Apache-2.0

import PinnedThread
import Synchronization

extension KafkaConsumer {
    /// Joins the group soon, and polls until `close()` is called, the task is cancelled or the client fails fatally.
    ///
    /// Returns only when the consumer is closed. A call after `close()` returns at once. A call while another one polls
    /// throws `.state`.
    nonisolated package func run() async throws(KafkaError) {
        guard try await begin() else { return }
        var isOpen = true
        while isOpen {
            if Task.isCancelled { await beginClosing(within: Self.defaultCloseLimit) }
            isOpen = await serve(after: wakeups.value)
        }
        if let failure = await failure { throw failure }
    }

    /// Leaves the group and frees the client; records that were not handed out stay uncommitted.
    ///
    /// Handed-out batches can be committed until a second before the limit. At worst it takes little longer than the
    /// limit; then the group detects the absence by its session timeout.
    package func close(within limit: Duration = KafkaConsumer.defaultCloseLimit) async {
        switch phase {
        case .idle:
            beginClosing(within: limit)
            while serveOnce(after: wakeups.value) { await Task.yield() }
        case .running, .closing:
            beginClosing(within: limit)
            await withCheckedContinuation { closeWaiters.append($0) }
        case .closed:
            return
        }
    }

    /// Starts the consumer; false when it is closed, after a wait if it is closing.
    private func begin() async throws(KafkaError) -> Bool {
        switch phase {
        case .idle: break
        case .running: throw KafkaError(.state)
        case .closing, .closed:
            await close()
            return false
        }
        phase = .running
        // The members are known before joining, which may wait for them.
        perform([.askMembers(within: .seconds(1))])
        return true
    }

    func beginClosing(within limit: Duration) {
        switch phase {
        case .idle, .running: phase = .closing(deadline: .now + limit, hasBegun: false)
        case .closing, .closed: return
        }
    }

    func fail(_ error: KafkaError) {
        if failure == nil { failure = error }
        beginClosing(within: Self.defaultCloseLimit)
    }

    /// Works until other calls wait, which run in between, or the task is cancelled; false when the consumer is closed.
    ///
    /// `start` is the counter's value before this call was enqueued.
    private func serve(after start: Int) -> Bool {
        while serveOnce(after: start) {
            if wakeups.hasOthers(since: start) || Task.isCancelled { return true }
        }
        return false
    }

    /// Performs one round of work; false when the consumer is closed.
    ///
    /// Without work it blocks the thread for at most `idleLimit`, and never while calls wait.
    private func serveOnce(after start: Int) -> Bool {
        turns.add()
        switch phase {
        case .idle:
            return true
        case .running:
            serveReplies()
            finishRevocation()
            controlFlow()
            if case .holding = flow.mode {
                waitForReplies(after: start)
            } else {
                pollEvents(after: start, limit: Self.idleLimit)
            }
            deliver()
            checkWatches()
            return true
        case .closing(let deadline, let hasBegun):
            return serveClosing(after: start, deadline: deadline, hasBegun: hasBegun)
        case .closed:
            return false
        }
    }

    private func serveClosing(after start: Int, deadline: ContinuousClock.Instant, hasBegun: Bool) -> Bool {
        if !hasBegun {
            phase = .closing(deadline: deadline, hasBegun: true)
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
        thread.detachInterrupt()
        for pending in commits.values { pending.continuation.resume(returning: .failed(KafkaError(.closed))) }
        commits = [:]
        assignment.clear()
        buffer.removeAll()
        if let handle = handle.take(), !handle.close(within: Self.destructionLimit) {
            notify(.error(KafkaError(.timedOut)))
        }
        phase = .closed
        hasClosed.store(true, ordering: .releasing)
        noticeSink.finish()
        for waiter in closeWaiters { waiter.resume() }
        closeWaiters = []
        return false
    }

    func notify(_ notice: ConsumerNotice) {
        noticeSink.yield(notice)
    }

    /// Maximum time for which the thread blocks, and so the maximum delay of a cancellation of `run()`.
    private static let idleLimit = Duration.milliseconds(250)

    /// Time limit for freeing the client before a background thread continues it.
    private static let destructionLimit = Duration.seconds(2)
}
