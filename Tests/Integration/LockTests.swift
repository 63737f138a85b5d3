// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import TestSupport
import TestTools
import Testing

extension Scenarios {
    @Suite struct Locks {
        @Test func `a locked person's request waits, strangers are answered, and a killed worker loses neither`()
            async throws
        {
            try await TestFleet.with { fleet in
                let worker = try await fleet.startWorker()
                let first = TestRequest(phoneNumber: Numbers.one())
                try await fleet.send(first)
                _ = try await fleet.event(of: first)

                let released = LedgerDatabase.waiting(for: "SELECT FROM pg_class WHERE relname = 'released'")
                async let holder: Void = fleet.database.script(
                    "BEGIN; SELECT FROM courier.verification FOR UPDATE; SELECT pg_advisory_xact_lock(1); \(released) COMMIT"
                )
                try await fleet.database.waitForHolders()
                let second = TestRequest(phoneNumber: first.phoneNumber)
                try await fleet.send(second)
                try await worker.waitForLog("intake.waiting")
                let shortest = try await quickest {
                    let strangers = Numbers.take(20).map { TestRequest(phoneNumber: $0) }
                    try await fleet.send(strangers)
                    _ = try await fleet.events(of: strangers.map(\.id))
                }
                #expect(shortest < .seconds(2))

                // The next worker reads the record again.
                try await worker.crash()
                let next = try await fleet.startWorker()
                try await next.waitForLog("intake.waiting")
                try await fleet.database.script("CREATE TABLE public.released ()")
                try await holder
                #expect(try await fleet.event(of: second).answer == Answer("suppressed", "resend_window"))
                let events = try await fleet.allEvents(after: .seconds(2))
                #expect(events.count == 102 && fleet.sent.count == 101)
                try await eventually("everything is committed") {
                    try await fleet.committedOffsets().values.reduce(0, +) == 102
                }
                try await next.stop()
            }
        }

        @Test func `a repeat whose own id is locked ends when it is too old, without a second answer`()
            async throws
        {
            try await TestFleet.with { fleet in
                let worker = try await fleet.startWorker(["WORKER_MAX_REQUEST_AGE": "10s"])
                let request = TestRequest(phoneNumber: Numbers.one())
                try await fleet.send(request)
                _ = try await fleet.event(of: request)

                let released = LedgerDatabase.waiting(for: "SELECT FROM pg_class WHERE relname = 'released'")
                async let holder: Void = fleet.database.script(
                    "BEGIN; SELECT FROM courier.request FOR UPDATE; SELECT pg_advisory_xact_lock(1); \(released) COMMIT"
                )
                try await fleet.database.waitForHolders()
                try await fleet.send(request)
                try await worker.waitForLog("intake.waiting")
                try await eventually("everything is committed", within: .seconds(60)) {
                    try await fleet.committedOffsets().values.reduce(0, +) == 2
                }
                let events = try await fleet.allEvents(after: .seconds(1))
                #expect(events.map(\.answer) == [Answer("sent")])
                try await fleet.database.script("CREATE TABLE public.released ()")
                try await holder
            }
        }
    }
}
