// SPDX-License-Identifier: Apache-2.0

import SMTPClient
import Synchronization

/// One call, shared between the thread that makes it and the task that waits for it.
///
/// The first outcome counts, whether of the server, the deadline or a cancellation. A call that is given up before the
/// gate has released the message's end never sends it: surely nothing was sent. Later the outcome is unknown.
final class SMTPCall: SMTPListener {
    private struct State {
        var result: SMTPResult?
        var waiter: CheckedContinuation<SMTPResult, Never>?
        var isWanted = true
        var hasBegun = false
    }

    private let gate: BodyGate
    private let state = Mutex(State())

    /// Creates a call whose message is never completed after `leaveBy`.
    init(leaveBy: ContinuousClock.Instant) {
        gate = BodyGate(leaveBy: leaveBy)
    }

    var isWanted: Bool { state.withLock { $0.isWanted } }

    /// Begins the call on a free thread; false when it was given up before.
    func begin() -> Bool {
        state.withLock { state in
            state.hasBegun = state.isWanted
            return state.isWanted
        }
    }

    /// Gives up a call that no thread has begun.
    func giveUpUnlessBegun() {
        guard !state.withLock(\.hasBegun) else { return }
        giveUp(gate.isTooLate ? .tooLate : .busy)
    }

    func mayComplete() -> Bool {
        let departs = gate.depart()
        if !departs { giveUp(.tooLate) }
        return departs
    }

    func settled(_ result: SMTPResult) {
        let waiter = state.withLock { state -> CheckedContinuation<SMTPResult, Never>? in
            guard state.result == nil else { return nil }
            state.result = result
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: result)
    }

    /// Gives up the call; has no effect when it already has an outcome.
    func giveUp(_ failure: SMTPFailure) {
        let isDecided = state.withLock { state in
            if state.result == nil { state.isWanted = false }
            return state.result != nil
        }
        guard !isDecided else { return }
        settled(SMTPResult(step: .greeting, reply: nil, isComplete: !gate.bar(), failure: failure))
    }

    /// Waits for the outcome; called once.
    func result() async -> SMTPResult {
        await withCheckedContinuation { waiter in
            let result = state.withLock { state in
                if state.result == nil { state.waiter = waiter }
                return state.result
            }
            if let result { waiter.resume(returning: result) }
        }
    }
}
