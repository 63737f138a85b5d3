// SPDX-License-Identifier: Apache-2.0

import Glibc

/// What did not come about in time.
package struct TimedOut: Error, CustomStringConvertible {
    package let description: String

    package init(_ what: String, after limit: Duration) {
        description = "not within \(limit): \(what)"
    }
}

/// Time as this process has it.
///
/// A machine that stands still, or gives its processors to others, takes its time from the workers and from those who
/// wait for them alike: of a gap between two looks no more counts than two looks may be apart.
package struct OwnTime {
    package private(set) var passed = Duration.zero
    private var last = ContinuousClock.now
    private let longestGap: Duration

    package init(longestGap: Duration = .seconds(1)) {
        self.longestGap = longestGap
    }

    /// Takes a look at the clock and tells how much time has passed in all.
    package mutating func look() -> Duration {
        let now = ContinuousClock.now
        passed += min(now - last, longestGap)
        last = now
        return passed
    }
}

/// The limit of every `eventually` where `COURIER_TEST_WAIT` names one, in seconds.
///
/// It proves that a missed wait ends: with 0.001 the suites are red, and come to their end.
private let limitOfAll: Duration? = getenv("COURIER_TEST_WAIT").flatMap { Double(String(cString: $0)) }.map(
    Duration.seconds
)

/// Waits for a value, asking again and again until the time is over or the test is cancelled.
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
        // The pace of the questions: what tests wait for is outside of the process or gives no signal.
        try await Task.sleep(for: pause)
        pause = min(pause * 2, .milliseconds(10))
    }
}

/// Waits until something holds.
package func eventually(
    _ what: String,
    within limit: Duration = .seconds(30),
    _ condition: () async throws -> Bool
) async throws {
    let _: Bool = try await eventually(what, within: limit) { try await condition() ? true : nil }
}

extension Task {
    /// The value of a task that its test alone waits for: where the test is cancelled, the task is, too.
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

/// The shortest time of five tries: what a step takes by itself, whatever else the machine does meanwhile.
package func quickest(_ step: () async throws -> Void) async rethrows -> Duration {
    var shortest = Duration.seconds(3600)
    for _ in 0..<5 {
        let start = ContinuousClock.now
        try await step()
        shortest = min(shortest, ContinuousClock.now - start)
    }
    return shortest
}

/// A name that no other test has, in letters and digits.
package func uniqueName(_ prefix: String) -> String {
    prefix + String(UInt64.random(in: 0...(.max)), radix: 36)
}
