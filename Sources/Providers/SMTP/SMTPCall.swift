// SPDX-License-Identifier: Apache-2.0

import SMTPClient
import Synchronization

/// One call, between the thread that makes it and the task that waits for it.
///
/// The first outcome counts, be it the server's, the deadline's or a cancellation's. The gate decides what the last two
/// mean: until the end of the message is let out, giving up withholds it and proves that nothing was sent.
final class SMTPCall: SMTPListener {
    private struct State {
        var result: SMTPResult?
        var waiter: CheckedContinuation<SMTPResult, Never>?
        var isWanted = true
        var hasBegun = false
    }

    private let gate: BodyGate
    private let state = Mutex(State())

    /// A call whose message is never completed from a moment on.
    init(leaveBy: ContinuousClock.Instant) {
        gate = BodyGate(leaveBy: leaveBy)
    }

    var isWanted: Bool { state.withLock { $0.isWanted } }

    /// Begins it on the thread that is free now; false when nobody wants it any more.
    func begin() -> Bool {
        state.withLock { state in
            state.hasBegun = state.isWanted
            return state.isWanted
        }
    }

    /// Gives up what no thread has begun.
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

    /// Ends the waiting; without effect on the outcome when there is one already.
    func giveUp(_ failure: SMTPFailure) {
        let isDecided = state.withLock { state in
            if state.result == nil { state.isWanted = false }
            return state.result != nil
        }
        guard !isDecided else { return }
        settled(SMTPResult(step: .greeting, reply: nil, isComplete: !gate.bar(), failure: failure))
    }

    /// The outcome, as soon as there is one; asked for once.
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
