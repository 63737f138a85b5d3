// SPDX-License-Identifier: Apache-2.0

import Formats
import KafkaClient
import Synchronization
import Testing

@testable import CodeCourier

@Suite struct WatchdogTests {
    @Test func `what stands still for too long has stalled, and what changes or is gone has not`() {
        var looks = Watchdog.Observations(maxWait: 3)
        for round in 0..<3 {
            #expect(looks.stalled(["poll": round, "intake": 7, "record": 1]) == [])
        }
        #expect(looks.stalled(["poll": 3, "intake": 7]) == ["intake"])
        #expect(looks.stalled(["poll": 4]) == [])
        // Work that restarts has its full time again.
        #expect(looks.stalled(["poll": 5, "intake": 7]) == [])
    }

    /// A record for a partition without a leader shows no progress until its delivery times out.
    @Test func `a part is late only when a record's delivery, and the longest call of a claim, are over`() {
        #expect(Watchdog.lateness(lease: .seconds(10)) == 40)
        #expect(Duration.seconds(Watchdog.lateness(lease: .seconds(10))) > KafkaProducer.deliveryTimeout)
        #expect(Watchdog.lateness(lease: .seconds(150)) == 150)
    }

    @Test(.timeLimit(.minutes(1))) func `a stage that does not get on is told, while tasks still run`() async throws {
        let told = Mutex<[String]>([])
        let (signals, signal) = AsyncStream.makeStream(of: Void.self)
        let watchdog = Watchdog(
            pulses: { ["intake": 1] },
            interval: .milliseconds(20),
            maxWait: 5,
            onStall: { stalled in
                told.withLock { $0 = stalled }
                signal.yield()
            }
        )
        let running = Task { try await watchdog.run() }
        defer { running.cancel() }
        for await _ in signals { break }
        running.cancel()
        try await running.value
        #expect(told.withLock(\.self).contains("intake"))
    }
}
