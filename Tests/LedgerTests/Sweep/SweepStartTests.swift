// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import TestTools
import Testing
import Verification

@testable import Ledger

@Suite struct SweepStartTests {
    private let time = Timestamp(microseconds: 1_780_000_000_000_000)

    @Test func `a sweep begins before the last one that left nothing, and at the oldest every ten seconds`() {
        let start = SweepStart()
        let now = ContinuousClock.now
        #expect(start.next(now: now) == nil)
        start.note(.nothing, at: time, now: now)
        #expect(start.next(now: now + .seconds(9)) == time - .seconds(60))
        start.note(.nothing, at: time + .seconds(9), now: now + .seconds(9))
        #expect(start.next(now: now + .milliseconds(9500)) == time - .seconds(51))
        #expect(start.next(now: now + .seconds(10)) == nil)
        #expect(start.next(now: now + .seconds(11)) == time - .seconds(51))
    }

    @Test func `while a sweep leaves something, the next one begins before the oldest of that`() {
        let start = SweepStart(margin: .seconds(5))
        let now = ContinuousClock.now
        _ = start.next(now: now)
        start.note(.some(since: time - .seconds(600)), at: time, now: now)
        #expect(start.next(now: now + .seconds(1)) == time - .seconds(605))
        start.note(.unknown, at: time + .seconds(1), now: now + .seconds(1))
        #expect(start.next(now: now + .seconds(2)) == time - .seconds(605))
        // The oldest due row has no lower time limit, so the next sweep has no start.
        start.note(.some(since: Timestamp(microseconds: .min)), at: time, now: now + .seconds(2))
        #expect(start.next(now: now + .seconds(3)) == nil)
    }

    @Test func `the longer looks at the oldest take, the fewer come`() {
        let start = SweepStart()
        let now = ContinuousClock.now
        _ = start.next(now: now)
        start.note(.nothing, at: time, now: now + .seconds(2))
        #expect(start.next(now: now + .seconds(99)) != nil)
        #expect(start.next(now: now + .seconds(100)) == nil)
        // A failed full sweep is not repeated at once.
        #expect(start.next(now: now + .seconds(399)) != nil)
        #expect(start.next(now: now + .seconds(400)) == nil)
    }

    @Test
    func `after an outage the look at the oldest is back within ten seconds, and never away for over five minutes`() {
        let start = SweepStart()
        let now = ContinuousClock.now
        _ = start.next(now: now)
        start.note(.nothing, at: time, now: now)
        #expect(start.next(now: now + .seconds(10)) == nil)
        start.interrupted(now: now + .seconds(70))
        #expect(start.next(now: now + .seconds(79)) != nil)
        start.note(.nothing, at: time, now: now + .seconds(79))
        #expect(start.next(now: now + .seconds(80)) == nil)
        // The sweep at 80 s never reported its end, so the duration of a later sweep must not count as its own.
        #expect(start.next(now: now + .seconds(140)) != nil)
        start.note(.nothing, at: time, now: now + .seconds(140))
        #expect(start.next(now: now + .seconds(380)) == nil)
        start.note(.nothing, at: time, now: now + .seconds(440))
        #expect(start.next(now: now + .seconds(679)) != nil)
        #expect(start.next(now: now + .seconds(680)) == nil)
    }

    @Test func `what there was no room for is looked at again at once, however old it is`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(sweepSize: 100))
            _ = try await worker.claims(30)
            try await database.script("UPDATE courier.parcel SET lease_until = clock_timestamp() - interval '1 day'")
            for _ in 0..<3 { #expect(try await worker.ledger.sweepSends(capacity: 10).value.count == 10) }
        }
    }

    @Test func `what is due is found, whether it has just become so or long ago`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(sweepSize: 100))
            let claims = try await worker.claims(30)
            #expect(try await worker.ledger.sweepSends(capacity: 100).value.isEmpty)
            try await database.script("UPDATE courier.parcel SET lease_until = clock_timestamp()")
            #expect(try await worker.ledger.sweepSends(capacity: 100).value.count == claims.count)
            try await database.script("UPDATE courier.parcel SET lease_until = '-infinity'")
            try await eventually("the old ones are looked at") {
                try await worker.ledger.sweepSends(capacity: 100).value.count == claims.count
            }
        }
    }
}
