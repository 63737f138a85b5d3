// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import TestSupport
import TestTools
import Testing
import Verification

@testable import Courier

/// Tests outcomes that the database cannot record at first.
@Suite(.timeLimit(.minutes(1))) struct RecordTests {
    private static let numbers = (0..<5).map { "+491512345\(1000 + $0)" }

    @Test func `what became of a send is recorded after an outage that is longer than its lease`() async throws {
        try await MemoryWorker.with(settings: .test(lease: .milliseconds(400))) { worker in
            worker.ledger.fail(.record, [FailingLedger.Failure](repeating: .refused, count: 6))
            worker.source.add([Self.numbers[0]])
            try await eventually("the outcome is published") { worker.sink.answers == ["sent"] }
        }
    }

    @Test func `a batch that takes too long is decided and recorded in halves, and makes no dead letter`() async throws
    {
        try await MemoryWorker.with { worker in
            worker.ledger.fail(.intake, [.slow])
            worker.ledger.fail(.record, [.slow])
            worker.source.add(Array(Self.numbers[..<4]))
            try await worker.settle(events: 4)
            #expect(worker.sink.answers == ["sent", "sent", "sent", "sent"])
            #expect(worker.journal.work.count { $0 == .ledger(.intake) } == 3)
        }
    }

    @Test func `an outcome that the database can never take is given up with its send's id, and no other is`()
        async throws
    {
        let journal = Journal()
        let log = LogRecord()
        try await MemoryWorker.with([MemoryProvider(journal: journal)], journal: journal, log: log) { worker in
            worker.ledger.fail(.record, [.faulty])
            worker.source.add([Self.numbers[0]])
            try await eventually("it is given up") { !log.lines(.recordGivenUp).isEmpty && worker.inFlight == 0 }
            worker.source.add([Self.numbers[1]])
            try await eventually("the next one is published") { worker.sink.answers == ["sent"] }
        }
        let line = try #require(log.lines(.recordGivenUp).first)
        #expect(log.lines(.recordGivenUp).count == 1)
        #expect(line.fields["send.id"] != nil && line.fields["provider"] == "main")
    }

    @Test func `a person's requests wait alone and in order while a row is locked, and no offset passes them`()
        async throws
    {
        let log = LogRecord()
        try await MemoryWorker.with(log: log) { worker in
            worker.source.add([Self.numbers[0]])
            try await worker.settle(events: 1)
            worker.ledger.lock(1)
            worker.source.add([Self.numbers[0], Self.numbers[1]])
            try await eventually("the stranger's is sent") { worker.sink.answers == ["sent", "sent"] }
            worker.source.add([Self.numbers[0], Self.numbers[2]])
            try await eventually("and the next one's") { worker.sink.answers.count == 3 }
            try await eventually("no commit passes them") { worker.source.leftOut == [2, 4] }
            try await eventually("it is told") { !log.lines(.intakeWaiting).isEmpty }

            worker.ledger.lock(0)
            try await eventually("they are answered") { worker.sink.answers.count == 5 }
            try await eventually("everything is committed") { worker.source.leftOut == [] }
            #expect(worker.sink.answers.suffix(2) == ["sent duplicate_request", "sent duplicate_request"])
        }
    }

    @Test func `an outcome whose verification is locked waits alone, for longer than a lease`() async throws {
        let gate = Gate()
        let journal = Journal()
        let provider = MemoryProvider(journal: journal) { _ in
            await gate.pass()
            return ProviderAnswer(.accepted, messageID: "1")
        }
        try await MemoryWorker.with([provider], journal: journal, settings: .test(lease: .milliseconds(400))) {
            worker in
            defer { gate.open() }
            worker.source.add(Array(Self.numbers[..<5]))
            try await eventually("all calls are under way") { provider.messages.count == 5 }
            worker.ledger.lock(1)
            gate.open()
            try await eventually("the others' are published") { worker.sink.answers.count == 4 }
            let tries = worker.journal.work.count { $0 == .ledger(.record) }
            try await eventually("it is tried for longer than a lease") {
                worker.journal.work.count { $0 == .ledger(.record) } >= tries + 2
            }
            #expect(worker.inFlight == 1)
            worker.ledger.lock(0)
            try await eventually("it is published, too") { worker.sink.answers.count == 5 }
        }
        #expect(provider.messages.count == 5)
    }
}
