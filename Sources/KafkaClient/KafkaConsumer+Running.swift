// SPDX-License-Identifier: Apache-2.0

import PinnedThread
import Synchronization

extension KafkaConsumer {
    /// Joins the group, soon, and polls until `close()` is called, the task is cancelled or the client fails for good.
    ///
    /// Returns only when the consumer is closed. A call after `close()` returns at once, one beside another call that
    /// still polls throws `.state`.
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
    /// Batches that were handed out may be committed until a second before the limit.
    /// Takes little more than the limit at worst, then the group notices the absence by its session timeout.
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

    /// Takes the consumer into use; false when it is closed, after a wait when it is closing.
    private func begin() async throws(KafkaError) -> Bool {
        switch phase {
        case .idle: break
        case .running: throw KafkaError(.state)
        case .closing, .closed:
            await close()
            return false
        }
        phase = .running
        beginJoining()
        return true
    }

    func beginClosing(within limit: Duration) {
        switch phase {
        case .idle, .running: phase = .closing(deadline: .now + limit, hasBegun: false)
        case .closing, .closed: return
        }
    }

    /// Ends the run with an error.
    func fail(_ error: KafkaError) {
        if failure == nil { failure = error }
        beginClosing(within: Self.defaultCloseLimit)
    }

    /// Works until other calls wait, which get in between, or the task is cancelled; false when the consumer is closed.
    ///
    /// `start` is the counter's value from before this call was enqueued.
    private func serve(after start: Int) -> Bool {
        while serveOnce(after: start) {
            if wakeups.hasOthers(since: start) || Task.isCancelled { return true }
        }
        return false
    }

    /// Does a slice of the work; false when the consumer is closed.
    ///
    /// It blocks the thread while there is nothing to do, for `idleLimit` at most, and not while calls wait.
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
            checkForLoss()
            checkReadFaults()
            watchGroup()
            checkIdentity()
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

    /// Frees the client and lets everybody go.
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

    /// The longest that the thread blocks, and so the longest that a cancelled `run()` takes to notice.
    private static let idleLimit = Duration.milliseconds(250)

    /// How long freeing the client may take before it is left to a thread in the background.
    private static let destructionLimit = Duration.seconds(2)
}
