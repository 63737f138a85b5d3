// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import Synchronization
import TestSupport
import TestTools
import Testing
import Verification

@testable import Courier

@Suite struct ClockWatchTests {
    @Test func `a clock is told of when it goes wrong, again while it is, and when it is right`() throws {
        let pause = { (event: LoggedEvent) in Double(try #require(event.interval).components.seconds) }
        let (offPause, heldPause) = (try pause(.clockOff), try pause(.clockHeld))
        var standing = ClockState()
        let start = ContinuousClock.now
        func take(_ seconds: Double, after time: Double) -> ClockState.Step? {
            standing.take(.seconds(seconds), at: start + .seconds(time))
        }
        #expect(take(0, after: 0) == nil)
        #expect(take(-5, after: 60) == nil)
        #expect(take(5.1, after: 120) == .off)
        #expect(take(-60, after: 180) == nil)
        #expect(take(-60, after: 119 + offPause) == nil)
        #expect(take(-60, after: 120 + offPause) == .off)
        #expect(take(-60.1, after: 780) == .held)
        #expect(take(7200, after: 785) == nil)
        #expect(take(7200, after: 779 + heldPause) == nil)
        #expect(take(7200, after: 780 + heldPause) == .held)
        #expect(take(59, after: 1390) == .off)
        #expect(take(2, after: 1450) == .right)
        #expect(take(600_000, after: 1510) == .held)
        #expect(take(0, after: 1515) == .right)
        #expect(take(0, after: 9999) == nil)
    }

    @Test(.timeLimit(.minutes(1)), arguments: [Duration.seconds(-61), .seconds(3600)])
    func `while its clock is wrong a worker decides nothing, and what is in flight goes on`(lead: Duration) async throws
    {
        let clock = Mutex(Duration.zero)
        let log = LogRecord()
        try await MemoryWorker.with { worker in
            let watch = ClockWatch(
                worker.pipeline,
                start: .zero,
                lead: { clock.withLock(\.self) },
                every: .milliseconds(5),
                shortInterval: .milliseconds(5),
                logger: log.logger
            )
            let watching = Task { try await watch.run() }
            defer { watching.cancel() }
            worker.source.add(["+4915100000001"])
            try await worker.settle(events: 1)

            clock.withLock { $0 = lead }
            try await eventually("new work is held back") { worker.pipeline.isHeld }
            worker.source.add(["+4915100000002"])
            worker.receipts.add(records: [.raw("no receipt", offset: 0, at: .now)])
            try await eventually("a receipt is read, and a request") {
                worker.sink.deadLetters.count == 1 && worker.source.waiting == 0
            }
            #expect(worker.ledger.open == 0 && worker.sink.answers.count { $0 == "sent" } == 1)

            clock.withLock { $0 = .seconds(3) }
            try await worker.settle(events: 3)
            watching.cancel()
            try await watching.value
        }
        #expect(log.events == ["clock.held", "clock.right"])
    }

    @Test(.timeLimit(.minutes(1))) func `neither one odd look nor a database that is away holds work back`()
        async throws
    {
        let (wrong, late) = (Duration.seconds(3600), Duration.seconds(-61))
        let looks = Mutex<[Duration?]>([nil, wrong, .zero, wrong, nil, late, .seconds(4), nil])
        let log = LogRecord()
        try await MemoryWorker.with { worker in
            let watch = ClockWatch(
                worker.pipeline,
                start: .zero,
                lead: { looks.withLock { $0.isEmpty ? .zero : $0.removeFirst() } },
                every: .milliseconds(1),
                logger: log.logger
            )
            let watching = Task { try await watch.run() }
            defer { watching.cancel() }
            try await eventually("every look is over") { looks.withLock(\.isEmpty) }
            #expect(!worker.pipeline.isHeld)
            watching.cancel()
            try await watching.value
        }
        #expect(log.events == [])
    }
}
