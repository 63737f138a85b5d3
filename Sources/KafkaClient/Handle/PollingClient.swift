// SPDX-License-Identifier: Apache-2.0

import PinnedThread
import Synchronization

/// An actor that polls a librdkafka client on a thread of its own until it is closed.
///
/// A round of work may block the thread; a call of the actor ends the wait, and runs between two rounds.
protocol PollingClient: Actor {
    nonisolated var loop: PollingLoop { get }
    var life: ClientLife { get set }

    /// Performs what precedes the first round.
    func start()

    /// Performs one round of work; false when the client is closed.
    ///
    /// Without work it blocks the thread for a moment, and never while other calls wait. `start` is the counter of
    /// wake-ups before this call was enqueued.
    func serveOnce(after start: Int) -> Bool
}

/// The thread of a polling client, and its counters.
final class PollingLoop: Sendable {
    let thread = PinnedThread()
    let wakeups = WakeCounter()
    let rounds = WakeCounter()
    private let hasClosed = Atomic(false)

    /// The number of rounds; nil once the client is closed.
    var pulse: Int? { hasClosed.load(ordering: .acquiring) ? nil : rounds.value }

    /// Makes calls wake a poll of the handle.
    func attach(_ handle: borrowing ClientHandle) {
        thread.attachInterrupt(handle.interrupt(wakeups))
    }

    /// Detaches the handle, so that it can be destroyed.
    ///
    /// Calls are still counted: `serve` returns only for counted ones.
    func detach() {
        thread.attachInterrupt { [wakeups] in wakeups.add() }
    }

    /// Ends the pulse.
    func close() { hasClosed.store(true, ordering: .releasing) }
}

/// The phase of a polling client, and the calls that wait for its end.
struct ClientLife {
    /// The phases; every method works in each of them.
    enum Phase {
        /// Not started. Exits: `running` by `poll()`, `closing` by `end(within:)`.
        case idle

        /// Polling. Exits: `closing` by `end(within:)`, cancellation or a fatal error.
        case running

        /// Finishing what is in progress. Exits: `closed`, soon after the deadline at the latest.
        case closing(deadline: ContinuousClock.Instant)

        case closed
    }

    /// Time limit for closing after a cancellation, or a fatal error.
    static let closeLimit = Duration.seconds(5)

    /// Time limit for freeing the client before a background thread continues it.
    static let destructionLimit = Duration.seconds(2)

    var phase = Phase.idle
    var failure: KafkaError?
    var waiters: [CheckedContinuation<Void, Never>] = []
}

extension PollingClient {
    /// Polls until `end(within:)` is called, the task is cancelled or the client fails fatally.
    ///
    /// Returns only when the client is closed. A call after `end(within:)` returns at once. A call while another one
    /// polls throws `.state`.
    nonisolated func poll() async throws(KafkaError) {
        guard try await begin() else { return }
        var isOpen = true
        while isOpen {
            if Task.isCancelled { await beginClosing(within: ClientLife.closeLimit) }
            isOpen = await serve(after: loop.wakeups.value)
        }
        if let failure = await life.failure { throw failure }
    }

    /// Closes the client and waits for it.
    func end(within limit: Duration) async {
        switch life.phase {
        case .idle:
            beginClosing(within: limit)
            while serveOnce(after: loop.wakeups.value) { await Task.yield() }
        case .running, .closing:
            beginClosing(within: limit)
            await withCheckedContinuation { life.waiters.append($0) }
        case .closed:
            return
        }
    }

    func beginClosing(within limit: Duration) {
        switch life.phase {
        case .idle, .running: life.phase = .closing(deadline: .now + limit)
        case .closing, .closed: return
        }
    }

    /// Ends the life of a client that is freed, and resumes all callers; returns false, as the last round does.
    func finishClosing() -> Bool {
        life.phase = .closed
        loop.close()
        for waiter in life.waiters { waiter.resume() }
        life.waiters = []
        return false
    }

    /// Starts the client; false when it is closed, after a wait if it is closing.
    private func begin() async throws(KafkaError) -> Bool {
        switch life.phase {
        case .idle: break
        case .running: throw KafkaError(.state)
        case .closing, .closed:
            await end(within: ClientLife.closeLimit)
            return false
        }
        life.phase = .running
        start()
        return true
    }

    /// Works until other calls wait, which then run, or the task is cancelled; false when the client is closed.
    ///
    /// `start` is the counter of wake-ups before this call was enqueued.
    private func serve(after start: Int) -> Bool {
        while serveOnce(after: start) {
            if loop.wakeups.hasOthers(since: start) || Task.isCancelled { return true }
        }
        return false
    }
}

/// Counts the jobs that were enqueued on a client's thread.
///
/// The wake-up by `rd_kafka_queue_yield` is a flag, not a count: a poll that finds it set cannot distinguish the job
/// that runs the poll from another job that waits behind it. So the caller of a poll reads the counter first, and the
/// poll blocks only while no more than the caller's own job was added. A job that is not counted waits for the next one
/// that is.
final class WakeCounter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .acquiring) }

    func add() {
        count.wrappingAdd(1, ordering: .acquiringAndReleasing)
    }

    /// True when jobs other than the caller's own were added since the counter was at `start`.
    func hasOthers(since start: Int) -> Bool {
        value &- start > 1
    }
}
