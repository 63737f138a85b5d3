// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The error of a condition that did not hold in time.
package struct TimedOut: Error, CustomStringConvertible {
    package let description: String

    package init(_ what: String, after limit: Duration) {
        description = "not within \(limit): \(what)"
    }
}

/// Measures the time in which this process could run.
///
/// A machine that pauses, or runs other processes, slows the workers and their tests alike. So of a gap between two
/// measurements only the longest expected gap counts.
package struct OwnTime {
    package private(set) var passed = Duration.zero
    private var last = ContinuousClock.now
    private let longestGap: Duration

    package init(longestGap: Duration = .seconds(1)) {
        self.longestGap = longestGap
    }

    /// Reads the clock, and returns the total time.
    package mutating func look() -> Duration {
        let now = ContinuousClock.now
        passed += min(now - last, longestGap)
        last = now
        return passed
    }
}

/// The limit of every `eventually` if `COURIER_TEST_WAIT` is set, in seconds.
///
/// It proves that a missed wait ends: with 0.001 the suites fail, and all of them end.
private let limitOfAll: Duration? = getenv("COURIER_TEST_WAIT").flatMap { Double(String(cString: $0)) }.map(
    Duration.seconds
)

/// Polls for a value until the time is over or the test is cancelled.
package func eventually<Value>(
    _ what: String,
    within limit: Duration = .seconds(30),
    _ value: () async throws -> Value?
) async throws -> Value {
    let limit = limitOfAll ?? limit
    var time = OwnTime()
    var pause = Duration.milliseconds(1)
    while true {
        if let value = try await value() { return value }
        guard time.look() < limit else { throw TimedOut(what, after: limit) }
        // Polls, since most conditions are outside this process or give no signal.
        try await Task.sleep(for: pause)
        pause = min(pause * 2, .milliseconds(10))
    }
}

/// Polls until a condition holds.
package func eventually(
    _ what: String,
    within limit: Duration = .seconds(30),
    _ condition: () async throws -> Bool
) async throws {
    let _: Bool = try await eventually(what, within: limit) { try await condition() ? true : nil }
}

extension Task {
    /// The value of a task that only its test awaits: a cancelled test also cancels the task.
    package var valueUnlessCancelled: Success {
        get async throws {
            try await withTaskCancellationHandler {
                try await value
            } onCancel: {
                cancel()
            }
        }
    }
}

/// The shortest of five runs, which is the closest to a step's own time on a busy machine.
package func quickest(_ step: () async throws -> Void) async rethrows -> Duration {
    var shortest = Duration.seconds(3600)
    for _ in 0..<5 {
        let start = ContinuousClock.now
        try await step()
        shortest = min(shortest, ContinuousClock.now - start)
    }
    return shortest
}

/// A name of letters and digits that no other test has.
package func uniqueName(_ prefix: String) -> String {
    prefix + String(UInt64.random(in: 0...(.max)), radix: 36)
}
