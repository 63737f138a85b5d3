// SPDX-License-Identifier: Apache-2.0

import Logs
import TestSupport
import TestTools
import Testing

@testable import Courier

@Suite struct MaintenanceNoticeTests {
    @Test func `days that nobody makes are told at the second look, and again as the catalogue says`() throws {
        let pause = try #require(LoggedEvent.maintenanceOverdue.interval).components.seconds
        var notice = MaintenanceNotice()
        let start = ContinuousClock.now
        func take(_ minutes: Double, after seconds: Double) -> Bool {
            notice.take(.seconds(minutes * 60), at: start + .seconds(seconds))
        }
        #expect(!take(64, after: 0))
        #expect(!take(66, after: 10), "another worker may be at it")
        #expect(take(66, after: 20))
        #expect(!take(70, after: Double(pause) + 10))
        #expect(take(76, after: Double(pause) + 20))
        #expect(!take(0, after: 3630))
        #expect(!take(66, after: 9000))
        #expect(take(66, after: 9010))
    }

    @Test(.timeLimit(.minutes(2))) func `a worker warns of maintenance that is overdue`() async throws {
        try await MemoryWorker.with { worker in
            worker.ledger.maintenanceAge(.seconds(7200))
            try await eventually("the worker warns", within: .seconds(40)) {
                worker.log.lines(.maintenanceOverdue).first?.fields["age_ms"].map { "\($0)" } == "7200000"
            }
        }
    }
}
