// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import TestTools
import Testing

extension Scenario {
    /// Publishes the requests, and waits until the provider has received `count` more calls than before.
    func waitForCalls(
        _ count: Int,
        sending requests: [TestRequest] = [],
        within limit: Duration = .seconds(60)
    ) async throws {
        let name = TestFleet.recordFile
        let length = fleet.folder.size(of: name)
        try await send(requests)
        // A call's line in the file is longer than 200 bytes.
        try await eventually("the provider gets \(count) calls", within: limit) {
            fleet.folder.size(of: name) > length + 200 * (count - 1)
        }
    }

    /// Waits until the provider has received a call for one of the requests, not counting its first `calls` calls.
    func waitForCall(
        to requests: [TestRequest],
        after calls: Int = 0,
        within limit: Duration = .seconds(60)
    ) async throws {
        let numbers = Set(requests.map(\.phoneNumber))
        try await eventually("the provider gets a call", within: limit) {
            fleet.sent[calls...].contains { numbers.contains($0.to) }
        }
    }

    /// Sends one more request after a fault, and reports the time until the provider accepts a message.
    func noteRecovery(within limit: Duration) async throws {
        let calls = fleet.sent.count
        try await send(makeRequests(1))
        let time = try await timeUntil("a message is sent after the fault", within: .seconds(60)) {
            fleet.sent[calls...].contains(where: \.accepted)
        }
        noteLargest("recovery_seconds", time / .seconds(1))
        #expect(time < limit)
    }
}

/// Waits until a condition holds, and returns the time that took by this process's own clock.
func timeUntil(_ what: String, within limit: Duration, _ condition: () async throws -> Bool) async throws -> Duration {
    var time = OwnTime(longestGap: .milliseconds(100))
    while try await !condition() {
        guard time.look() < limit else { throw TimedOut(what, after: limit) }
        // Polls, since neither a provider's file nor another process gives a signal.
        try await Task.sleep(for: .milliseconds(20))
    }
    return time.look()
}
