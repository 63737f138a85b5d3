// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import TestSupport
import TestTools
import Testing
import Verification

@testable import Courier

@Suite(.timeLimit(.minutes(5))) struct PipelineTests {
    private static let numbers = (0..<20).map { "+491512345\(1000 + $0)" }

    @Test func `the stages hand a request on in their order, and its offset is committed once it is durable`()
        async throws
    {
        try await MemoryWorker.with { worker in
            worker.source.add([Self.numbers[0]])
            try await worker.settle(events: 1)
            try await eventually("its offset is committed") { worker.journal.work.contains(.committed(1)) }
            let work = worker.journal.work
            #expect(
                work.filter { $0 != .committed(1) } == [
                    .taken(1), .ledger(.intake), .ledger(.markDispatching), .called(provider: "main"),
                    .ledger(.record), .produced(1), .ledger(.published),
                ]
            )
            #expect(work.prefix { $0 != .committed(1) }.contains(.ledger(.intake)))
            #expect(worker.sink.answers == ["sent"])
        }
    }

    @Test func `a provider gets the region's own text, with the ids that it is registered by`() async throws {
        let journal = Journal()
        let provider = MemoryProvider(journal: journal)
        let registration = TemplateRegistration(entityID: "1101", templateID: "1107")
        let own = RegionMessages(
            templates: ["de": try MessageTemplate(checking: "OTP {code} / {appName}")],
            registration: registration
        )
        let germany = try #require(Region("DE"))
        try await MemoryWorker.with(
            [provider],
            journal: journal,
            messages: MessagePolicy(regions: [germany: own])
        ) { worker in
            worker.source.add([Self.numbers[0]])
            try await worker.settle(events: 1)
            guard case .sms(let message)? = provider.messages.first?.content else {
                Issue.record("no SMS was sent")
                return
            }
            #expect(message.text.hasPrefix("OTP "))
            #expect(message.text.hasSuffix(" / Acme"))
            #expect(message.registration == registration)
        }
    }

    @Test func `what is published is deleted many records together, and events do not wait for it`() async throws {
        let gate = Gate()
        try await MemoryWorker.with { worker in
            defer { gate.open() }
            worker.ledger.keepPublished(until: gate)
            for (place, number) in Self.numbers.enumerated() {
                worker.source.add([number])
                try await eventually("its event is published") { worker.sink.answers.count > place }
            }
            try await eventually("the first deletion stands still") { worker.progress.atWork[.forget] != nil }
            gate.open()
            try await worker.settle(events: Self.numbers.count)
            // Records that are published meanwhile are deleted together; an acknowledgement may arrive a moment later.
            let deletions = worker.journal.work.count { $0 == .ledger(.published) }
            #expect(deletions <= 5)
        }
    }

    @Test func `a deletion that stands still is seen, though events are still published`() async throws {
        let gate = Gate()
        try await MemoryWorker.with { worker in
            defer { gate.open() }
            worker.ledger.keepPublished(until: gate)
            worker.source.add([Self.numbers[0]])
            var step: Int?
            try await eventually("its event is being deleted") {
                let before = step
                step = worker.progress.atWork[.forget]
                return step != nil && step == before
            }
            worker.source.add([Self.numbers[1]])
            try await eventually("the next event is published") { worker.sink.answers.count == 2 }
            #expect(worker.progress.atWork[.forget] == step)
        }
    }

    @Test func `no offset is committed while the database is away`() async throws {
        try await MemoryWorker.with { worker in
            worker.ledger.fail(.intake, [.refused, .refused, .answerLost])
            worker.source.add(Array(Self.numbers[..<3]))
            try await worker.settle(events: 3)
            let work = worker.journal.work
            #expect(Array(work.prefix(5)) == [.taken(3)] + [Journal.Entry](repeating: .ledger(.intake), count: 4))
            #expect(work.dropFirst(5).first == .committed(3))
            #expect(worker.sink.answers == ["sent", "sent", "sent"])
        }
    }

    @Test func `a commit that failed is made again, though nothing more comes`() async throws {
        try await MemoryWorker.with { worker in
            worker.source.failCommits(2)
            worker.source.add([Self.numbers[0]])
            try await worker.settle(events: 1)
            try await eventually("its offset is committed") { worker.journal.work.contains(.committed(1)) }
        }
    }

    @Test func `a receipt of another cell's send is a dead letter, and no other one is`() async throws {
        var settings = WorkerSettings.test
        settings.cell = 7
        try await MemoryWorker.with(settings: settings) { worker in
            let names = ([0, 7, 8] as [UInt8]).map { #""sendId":"\#(UUIDValue(1 << 100).inCell($0))""# }
            let receipts = (names + [#""providerMessageId":"SM1""#]).enumerated().map { offset, name in
                let text = #"{"provider":"main",\#(name),"status":"delivered"}"#
                return InboundRecord.raw(text, offset: Int64(offset), at: .now)
            }
            worker.receipts.add(records: receipts)
            try await eventually("all are read, and told") {
                worker.journal.work.contains(.committed(4)) && worker.ledger.unpublished == 0
            }
            #expect(worker.sink.deadLetters == ["other_cell", "other_cell"])
        }
    }

    @Test func `requests and receipts are read on while a commit of their offsets is not answered`() async throws {
        let gate = Gate()
        try await MemoryWorker.with { worker in
            defer { gate.open() }
            worker.source.keepCommits(until: gate)
            worker.receipts.keepCommits(until: gate)
            for place in 0..<3 {
                worker.source.add([Self.numbers[place]])
                worker.receipts.add(records: [.raw("no receipt", offset: Int64(place), at: .now)])
                try await eventually("what was read is told") {
                    worker.sink.answers.count { $0 == "sent" } == place + 1
                        && worker.sink.deadLetters.count == place + 1
                }
            }
            func committed() -> Int {
                worker.journal.work.reduce(0) { sum, entry in
                    if case .committed(let count) = entry { sum + count } else { sum }
                }
            }
            #expect(committed() == 0)
            gate.open()
            try await eventually("the offsets of all are committed") { committed() == 6 }
        }
    }

    @Test(arguments: FailingLedger.Method.allCases, FailingLedger.Failure.allCases)
    func `whichever call of the ledger fails, nothing is lost and nothing is sent twice`(
        _ method: FailingLedger.Method,
        _ failure: FailingLedger.Failure
    ) async throws {
        let journal = Journal()
        let provider = MemoryProvider(journal: journal)
        try await MemoryWorker.with([provider], journal: journal) { worker in
            worker.ledger.fail(method, [failure, failure])
            worker.source.add(Array(Self.numbers[..<5]))
            try await worker.settle(events: 5)
            let answers = [String](repeating: "sent", count: 5)
            if method == .published {
                // A record whose deletion failed is published again: at least once.
                #expect(Set(worker.sink.answers) == Set(answers))
                #expect(worker.sink.answers.count >= 5)
            } else {
                #expect(worker.sink.answers == answers)
            }
            #expect(provider.messages.count == 5)
            #expect(Set(provider.messages.map(\.content.recipient.canonical)).count == provider.messages.count)
        }
    }

    @Test func `claims whose mark had no answer until half of the lease are handed back, and sent`() async throws {
        try await MemoryWorker.with(settings: .test(lease: .seconds(4))) { worker in
            worker.ledger.fail(.markDispatching, [FailingLedger.Failure](repeating: .answerLost, count: 8))
            worker.ledger.fail(.release, [.refused, .refused])
            worker.source.add([Self.numbers[0]])
            try await eventually("it is sent, and known to be") { worker.sink.answers == ["sent"] }
            #expect(!worker.ledger.hasFailures)
        }
    }

    @Test func `nothing is sent before its mark is known to be made`() async throws {
        try await MemoryWorker.with { worker in
            worker.ledger.fail(.markDispatching, [.refused, .answerLost, .answerLost])
            worker.source.add([Self.numbers[0]])
            try await worker.settle(events: 1)
            let marks = [Journal.Entry](repeating: .ledger(.markDispatching), count: 4)
            let work = worker.journal.work.filter { $0 != .committed(1) }
            #expect(Array(work.dropFirst(2).prefix(5)) == marks + [.called(provider: "main")])
            #expect(worker.sink.answers == ["sent"])
        }
    }

    @Test func `a record that the database cannot take becomes a dead letter, and its neighbours are sent`()
        async throws
    {
        try await MemoryWorker.with { worker in
            worker.ledger.poison(offsets: [3, 7])
            worker.source.add(Array(Self.numbers[..<9]))
            try await worker.settle(events: 9)
            #expect(worker.sink.answers.count { $0 == "sent" } == 7)
            #expect(worker.sink.deadLetters == ["unrecordable", "unrecordable"])
            try await eventually("their offsets are committed") { worker.journal.work.contains(.committed(9)) }
        }
    }

    @Test func `records that the broker does not take stay in the outbox, and are published later`() async throws {
        try await MemoryWorker.with { worker in
            worker.sink.fail(2)
            worker.source.add(Array(Self.numbers[..<4]))
            try await eventually("the broker has refused") { !worker.sink.hasFailures || worker.ledger.open == 0 }
            try await worker.settle(events: 4)
            #expect(worker.sink.answers == ["sent", "sent", "sent", "sent"])
        }
    }

    /// Runs a worker with at most four sends in flight, whose provider answers once the gate is open.
    private func withFourAtTheGate(_ body: (MemoryWorker, MemoryProvider, Gate) async throws -> Void) async throws {
        let gate = Gate()
        let journal = Journal()
        let provider = MemoryProvider(journal: journal) { _ in
            await gate.pass()
            return ProviderAnswer(.accepted, messageID: "1")
        }
        var settings = WorkerSettings.test
        settings.maxInFlight = 4
        try await MemoryWorker.with([provider], journal: journal, settings: settings) { worker in
            defer { gate.open() }
            try await body(worker, provider, gate)
        }
    }

    @Test func `no more is claimed than may be in flight, and intake waits for room`() async throws {
        try await withFourAtTheGate { worker, provider, gate in
            worker.source.add(Self.numbers)
            try await eventually("four calls are under way") { provider.messages.count == 4 }
            // Sweeps continue, but take over no sends.
            let sweeps = worker.journal.entries.count { $0 == .ledger(.sweepSends) }
            try await eventually("sweeps go on") {
                worker.journal.entries.count { $0 == .ledger(.sweepSends) } > sweeps + 3
            }
            // One batch of two is read ahead.
            #expect(worker.source.waiting == 14)
            gate.open()
            try await worker.settle(events: 20)
            #expect(provider.mostRunning == 4)
            #expect(worker.sink.answers.count == 20)
        }
    }

    @Test func `a batch that waited for room is decided by the policy that came meanwhile`() async throws {
        try await withFourAtTheGate { worker, provider, gate in
            worker.source.add(Array(Self.numbers[..<6]))
            try await eventually("four calls are under way, and two records are read and wait") {
                provider.messages.count == 4 && worker.source.waiting == 0
                    && !worker.progress.atWork.contains { stage, _ in stage == .intake }
            }
            worker.policies.replace(with: .test { $0.regions = RegionPolicy(.allowlistOnly(allowed: [])) })
            gate.open()
            try await worker.settle(events: 6)
            let refused = worker.sink.answers.count { $0 == "rejected region_not_allowed" }
            #expect(refused == 2, "\(worker.sink.answers)")
        }
    }

    @Test(arguments: [(first: 1, batches: 1), (first: 2, batches: 2)])
    func `the next batch is read while a full one is decided, and not behind a small one`(
        first: Int,
        batches: Int
    ) async throws {
        var settings = WorkerSettings.test
        settings.maxInFlight = 4  // so that two fill a batch
        try await MemoryWorker.with(settings: settings) { worker in
            func failures() -> Int { worker.journal.work.count { $0 == .ledger(.intake) } }
            worker.ledger.fail(.intake, .init(repeating: .refused, count: 1000))
            worker.source.add(Array(Self.numbers[..<first]))
            try await eventually("the first batch is refused") { failures() > 0 }
            worker.source.add([Self.numbers[2]])
            try await eventually("it is refused again and again") { failures() > 3 }
            let taken = worker.journal.work.count { if case .taken = $0 { true } else { false } }
            #expect(taken == batches)
            worker.ledger.fail(.intake, [])
            try await worker.settle(events: first + 1)
        }
    }

    @Test func `a provider that refuses hands over to the next of the route`() async throws {
        let journal = Journal()
        let first = MemoryProvider("first", journal: journal) { _ in ProviderAnswer(.refused, errorCode: "21211") }
        let second = MemoryProvider("second", journal: journal)
        try await MemoryWorker.with([first, second], journal: journal) { worker in
            worker.source.add([Self.numbers[0]])
            try await worker.settle(events: 1)
            let calls = worker.journal.work.filter { if case .called = $0 { true } else { false } }
            #expect(calls == [.called(provider: "first"), .called(provider: "second")])
            #expect(worker.sink.answers == ["sent"])
        }
    }

    @Test func `after an answer that says nothing, no other provider is asked`() async throws {
        let journal = Journal()
        let first = MemoryProvider("first", journal: journal) { _ in ProviderAnswer(.unknown, errorCode: "timeout") }
        let second = MemoryProvider("second", journal: journal)
        try await MemoryWorker.with([first, second], journal: journal) { worker in
            worker.source.add([Self.numbers[0]])
            try await worker.settle(events: 1)
            #expect(!worker.journal.work.contains(.called(provider: "second")))
            #expect(worker.sink.answers == ["unknown timeout"])
        }
    }

    @Test func `what is repeated under its key is the same message`() async throws {
        let journal = Journal()
        let provider = MemoryProvider(isIdempotent: true, journal: journal) { _ in
            ProviderAnswer(.unknown, errorCode: "timeout")
        }
        try await MemoryWorker.with([provider], journal: journal) { worker in
            worker.source.add([Self.numbers[0]])
            try await worker.settle(events: 1)
            #expect(provider.messages.count == 3)
            // The validity of the first call is repeated, although part of it has passed by the later calls.
            #expect(Set(provider.messages.map(\.validity)).count == 1)
        }
    }

    @Test func `no call begins that could outlast its claim`() async throws {
        var settings = WorkerSettings.test
        settings.lease = .seconds(12)
        settings.callDeadline = .seconds(10)
        try await MemoryWorker.with(settings: settings) { worker in
            worker.source.add([Self.numbers[0]])
            // The send is released and claimed repeatedly, and never called.
            try await eventually("three claims") {
                worker.journal.work.count { $0 == .ledger(.record) } >= 3
            }
            #expect(!worker.journal.work.contains(.called(provider: "main")))
            #expect(worker.sink.answers.isEmpty)
        }
    }

    @Test func `a sweep that leaves more behind is followed by the next one at once`() async throws {
        var settings = WorkerSettings.test
        settings.batchSize = 10
        settings.sweepInterval = .seconds(5)
        try await MemoryWorker.with(settings: settings) { worker in
            let records = (0..<100).map { InboundRecord.request(id: "r", offset: $0, at: .now) }
            worker.ledger.runOut(records.map { .deadLetter($0, reason: .unknownReceipt, at: .now) })
            try await eventually("all are swept", within: .seconds(20)) {
                worker.ledger.ranOut == 0 && worker.sink.deadLetters.count == 100
            }
        }
    }
}
