// SPDX-License-Identifier: Apache-2.0

/// What did not come about in time.
package struct TimedOut: Error, CustomStringConvertible {
    package let description: String

    package init(_ what: String, after limit: Duration) {
        description = "not within \(limit): \(what)"
    }
}

/// Waits for a value, asking again and again until the time is over.
package func eventually<Value>(
    _ what: String,
    within limit: Duration = .seconds(30),
    _ value: () async throws -> Value?
) async throws -> Value {
    let end = ContinuousClock.now + limit
    while true {
        if let value = try await value() { return value }
        guard ContinuousClock.now < end else { throw TimedOut(what, after: limit) }
        try await Task.sleep(for: .milliseconds(20))
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

/// A name that no other test has, in letters and digits.
package func uniqueName(_ prefix: String) -> String {
    prefix + String(UInt64.random(in: 0...(.max)), radix: 36)
}
