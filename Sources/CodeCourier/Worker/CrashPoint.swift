// SPDX-License-Identifier: Apache-2.0

import Courier
import Glibc
import Synchronization

/// Makes a worker of a debug build crash or stall at a step, so that tests can cover every step.
///
/// `COURIER_CRASH_AT=<step>[:<n>]` kills the process when it takes the step for the n-th time, `COURIER_STALL_AT`
/// blocks the thread that takes it forever. A release build ignores both.
enum CrashPoint {
    static func observer(_ environment: [String: String]) -> Step.Observer {
        #if DEBUG
        if let point = environment["COURIER_CRASH_AT"].flatMap(Countdown.init) {
            return { step in
                if point.isOver(at: step) { kill(getpid(), SIGKILL) }
            }
        }
        if let point = environment["COURIER_STALL_AT"].flatMap(Countdown.init) {
            return { step in
                // The blocked thread is the simulated fault; the length of each sleep has no meaning.
                while point.isOver(at: step) { sleep(3600) }
            }
        }
        #endif
        return { _ in }
    }

    /// Counts down the occurrences of a step.
    private final class Countdown: Sendable {
        private let step: Step
        private let left: Mutex<Int>

        init?(_ text: String) {
            let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
            guard let name = parts.first, let step = Step(rawValue: name) else { return nil }
            self.step = step
            left = Mutex(parts.count > 1 ? max(1, Int(parts[1]) ?? 1) : 1)
        }

        func isOver(at step: Step) -> Bool {
            guard step == self.step else { return false }
            return left.withLock { left in
                left -= 1
                return left <= 0
            }
        }
    }
}
