// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import TestSupport
import TestTools
import Testing
import Verification

@testable import Courier

@Suite struct ShutdownTests {
    @Test(.timeLimit(.minutes(1)))
    func `a worker that is told to stop finishes its calls, records and publishes them, and takes no more`()
        async throws
    {
        let gate = Gate()
        let journal = Journal()
        let provider = MemoryProvider(journal: journal) { _ in
            await gate.pass()
            return ProviderAnswer(.accepted, messageID: "1")
        }
        var stopped: MemoryWorker?
        try await MemoryWorker.with([provider], journal: journal) { worker in
            defer { gate.open() }
            stopped = worker
            worker.source.add(["+4915123451000", "+4915123451001"])
            try await eventually("both calls are under way") {
                worker.journal.work.count { $0 == .called(provider: "main") } == 2
            }
            // The database fails during the shutdown as well; the outcomes of the calls are retried.
            worker.ledger.fail(.record, [.refused, .refused])
            worker.ledger.fail(.published, [.refused])
            await worker.stop()
            try await eventually("it has stopped reading") { worker.journal.entries.contains(.left) }
            worker.source.add(["+4915123451002"])
            gate.open()
        }
        let worker = try #require(stopped)
        #expect(worker.sink.answers == ["sent", "sent"])
        #expect(worker.ledger.open == 0)
        #expect(worker.ledger.unpublished == 0)
        #expect(!worker.ledger.hasFailures)
        #expect(worker.source.waiting == 1)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a worker that is told to stop while the database is away leaves its batch uncommitted`() async throws {
        var stopped: MemoryWorker?
        try await MemoryWorker.with { worker in
            stopped = worker
            worker.ledger.fail(.intake, .init(repeating: .refused, count: 1000))
            worker.source.add(["+4915123451000"])
            try await eventually("intake has failed twice") {
                worker.journal.work.count { $0 == .ledger(.intake) } >= 2
            }
        }
        let worker = try #require(stopped)
        #expect(!worker.journal.work.contains(.committed(1)))
        #expect(worker.sink.answers.isEmpty)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a worker that is told to stop commits what it has recorded before it leaves its groups`() async throws {
        let gates = (requests: Gate(), receipts: Gate())
        var stopped: MemoryWorker?
        try await MemoryWorker.with { worker in
            stopped = worker
            defer {
                gates.requests.open()
                gates.receipts.open()
            }
            worker.source.keepCommits(until: gates.requests)
            worker.receipts.keepCommits(until: gates.receipts)
            worker.source.add(["+4915123451000"])
            worker.receipts.add(records: [.raw("no receipt", at: .now), .raw("none either", offset: 1, at: .now)])
            try await eventually("all are told") { worker.sink.answers.count == 3 }
            await worker.stop()
            gates.requests.open()
            try await eventually("it leaves the group of requests") { worker.journal.entries.contains(.left) }
        }
        let ends = try #require(stopped).journal.entries.filter { [.committed(1), .committed(2), .left].contains($0) }
        #expect(ends == [.committed(1), .left, .committed(2), .left])
    }

    @Test(.timeLimit(.minutes(1)))
    func `a worker that is told to stop takes nothing over any more while it leaves its group`() async throws {
        let gate = Gate()
        try await MemoryWorker.with { worker in
            worker.source.leave(through: gate)
            defer { gate.open() }
            try await eventually("it sweeps") { worker.journal.entries.contains(.ledger(.sweepSends)) }
            await worker.stop()
            try await eventually("it leaves") { worker.journal.entries.contains(.left) }
            let sweeps = worker.journal.entries.count { $0 == .ledger(.sweepSends) }
            // The time of ten sweeps; one sweep may have started earlier.
            try await Task.sleep(for: .milliseconds(200))
            #expect(worker.journal.entries.count { $0 == .ledger(.sweepSends) } <= sweeps + 1)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a worker that is told to stop waits for the broker's answers, and forgets what is published`() async throws {
        var stopped: MemoryWorker?
        try await MemoryWorker.with { worker in
            stopped = worker
            defer { worker.sink.letGo() }
            worker.sink.hold { _ in true }
            worker.source.add(["+4915123451000"])
            try await eventually("the broker has its event") { worker.sink.held == 1 }
            await worker.stop()
            try await eventually("it has stopped reading") { worker.journal.entries.contains(.left) }
        }
        let worker = try #require(stopped)
        #expect(worker.sink.answers == ["sent"])
        #expect(worker.ledger.unpublished == 0)
    }

    @Test(.timeLimit(.minutes(1)))
    func `an idle worker stops long before its time to drain is over`() async throws {
        let start = ContinuousClock.now
        try await MemoryWorker.with { worker in
            try await eventually("it sweeps") { worker.journal.entries.contains(.ledger(.sweepOutbox)) }
        }
        #expect(ContinuousClock.now - start < .seconds(20))
    }
}
