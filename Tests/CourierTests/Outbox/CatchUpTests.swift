// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import TestSupport
import TestTools
import Testing
import Verification

@testable import Courier

/// Tests events that wait for an earlier event of their verification.
@Suite struct CatchUpTests {
    private static let number = "+4915123467890"

    /// Records of one request, the first of which is sent and the others answered.
    private static func burst(_ count: Int) -> [InboundRecord] {
        (1...Int64(count)).map { .request(id: "r1", phoneNumber: number, offset: $0, at: .now) }
    }

    @Test(.timeLimit(.minutes(2)))
    func `a burst of records of one request is answered in its order, long before the next sweep`() async throws {
        var settings = WorkerSettings.test
        settings.sweepInterval = .seconds(300)
        try await MemoryWorker.with(settings: settings) { worker in
            worker.source.add(records: Self.burst(200))
            try await eventually("all are published") { worker.sink.sequences.count == 200 }
            #expect(worker.sink.sequences == Array(1...200))
            #expect(worker.sink.answers.filter { $0 == "sent" }.count == 1)
            try await eventually("all are forgotten") { worker.ledger.unpublished == 0 }
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `behind an event that the broker does not take nothing of its verification is published`() async throws {
        try await MemoryWorker.with { worker in
            worker.sink.refuse(3)
            worker.source.add(records: Self.burst(10))
            try await eventually("the broker has refused the third") {
                // The first two must also be deleted from the outbox, or they would be published again.
                worker.sink.sequences == [1, 2] && worker.ledger.open == 0 && worker.ledger.unpublished == 8
            }
            for _ in 0..<3 {
                worker.ledger.expireLeases()
                // Time for three sweeps of the outbox. No signal reports that a sweep published nothing.
                try await Task.sleep(for: .milliseconds(60))
                #expect(worker.sink.sequences == [1, 2])
            }
            worker.sink.refuse(nil)
            worker.ledger.expireLeases()
            try await eventually("all are published") { worker.ledger.unpublished == 0 }
            #expect(worker.sink.sequences == Array(1...10))
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `one verification's event that is not taken holds up no other verification`() async throws {
        try await MemoryWorker.with { worker in
            worker.sink.refuse(3)
            worker.source.add(records: Self.burst(10))
            try await eventually("the broker has refused the third") { worker.sink.sequences == [1, 2] }
            worker.source.add(records: [
                .request(id: "a", phoneNumber: "+4915123467891", offset: 11, at: .now),
                .request(id: "a", phoneNumber: "+4915123467891", offset: 12, at: .now),
            ])
            try await eventually("the other one's are published") {
                worker.ledger.expireLeases()
                return worker.sink.streams.filter { $0 == [1, 2] }.count == 2
            }
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `an event that the broker says nothing of holds up no other verification, and goes once`() async throws {
        try await MemoryWorker.with { worker in
            defer { worker.sink.letGo() }
            worker.sink.hold { _ in true }
            worker.source.add(["+4915123467891"])
            try await eventually("the broker has the first") { worker.sink.held == 1 }
            worker.sink.hold { _ in false }
            // The events behind the first one are read from the outbox.
            worker.source.add(records: Self.burst(10))
            try await eventually("the others are published and forgotten") {
                worker.sink.answers.count == 10 && worker.ledger.unpublished == 1
            }
            worker.sink.letGo()
            try await eventually("the first is forgotten too") { worker.ledger.unpublished == 0 }
            #expect(worker.sink.answers.count == 11)
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `in the middle of one verification's events the broker's silence holds up no other's`() async throws {
        try await MemoryWorker.with { worker in
            defer { worker.sink.letGo() }
            worker.sink.hold { $0.sequence == 3 }
            worker.source.add(records: Self.burst(5))
            try await eventually("the broker has the third") { worker.sink.held == 1 && worker.ledger.open == 0 }
            worker.sink.hold { _ in false }
            worker.source.add(
                records: (11...14).map {
                    .request(id: "other", phoneNumber: "+4915123467891", offset: $0, at: .now)
                }
            )
            try await eventually("those of the other one are published and forgotten") {
                worker.sink.sequences.count == 6 && worker.ledger.unpublished == 3
            }
            worker.sink.letGo()
            try await eventually("the rest too") { worker.ledger.unpublished == 0 }
            #expect(worker.sink.sequences.count == 9)
            #expect(worker.sink.sequences.suffix(3) == [3, 4, 5])
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `what the broker has and says nothing of is not given to it again, and nothing overtakes it`() async throws {
        try await MemoryWorker.with { worker in
            defer { worker.sink.letGo() }
            worker.sink.hold { _ in true }
            worker.source.add(records: Self.burst(3))
            try await eventually("the broker has the first") { worker.sink.held == 1 && worker.ledger.open == 0 }
            try await eventually("the others wait") { worker.ledger.unpublished == 3 }
            worker.ledger.expireLeases()
            func looks() -> Int { worker.journal.entries.count { $0 == .ledger(.sweepOutbox) } }
            let before = looks()
            try await eventually("it is taken over again") { looks() > before + 2 }
            #expect(worker.sink.held == 1)
            worker.sink.letGo()
            try await eventually("all are published") { worker.ledger.unpublished == 0 }
            #expect(worker.sink.sequences == [1, 2, 3])
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `a broker that says nothing is seen, though it is given more`() async throws {
        try await MemoryWorker.with { worker in
            defer { worker.sink.letGo() }
            worker.sink.hold { _ in true }
            worker.source.add([Self.number])
            try await eventually("the broker has the first") { worker.sink.held == 1 }
            let steps = try #require(worker.progress.atWork[.publish])
            worker.source.add(["+4915123467891"])
            try await eventually("the broker has the second") { worker.sink.held == 2 }
            #expect(worker.progress.atWork[.publish] == steps)
            worker.sink.letGo()
            try await eventually("nothing is under way") { worker.progress.atWork[.publish] == nil }
        }
    }
}
