// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import Synchronization
import TestSupport
import TestTools
import Testing
import Verification

@testable import Courier

@Suite(.timeLimit(.minutes(5))) struct RoutingTests {
    private static let moreThanAttempts = Int(AttemptPlan.maximumAttempts) + 2
    private static let numbers = (0..<20).map { "+491512346\(1000 + $0)" }

    @Test func `what has no turn of its provider is not called, and is sent when it has one`() async throws {
        let journal = Journal()
        let provider = MemoryProvider(journal: journal)
        let rate = RateLimit(count: 5, per: .seconds(1))
        try await MemoryWorker.with([provider], journal: journal, limits: ["main": rate]) { worker in
            worker.rates.close()
            worker.source.add(Array(Self.numbers[..<8]))
            try await eventually("all have waited in vain and gone back") {
                worker.journal.work.count { $0 == .ledger(.record) } >= 2
            }
            #expect(provider.messages.isEmpty)
            worker.rates.open()
            try await worker.settle(events: 8)
            #expect(worker.sink.answers == [String](repeating: "sent", count: 8))
            #expect(provider.messages.count == 8)
        }
    }

    @Test(arguments: OptOutRule.allCases)
    func `who sent STOP to one provider gets no message by another unless the policy says so`(
        rule: OptOutRule
    ) async throws {
        let journal = Journal()
        let first = MemoryProvider("first", journal: journal) { _ in ProviderAnswer(.optedOut, errorCode: "21610") }
        let next = MemoryProvider("next", journal: journal)
        try await MemoryWorker.with([first, next], journal: journal, onOptOut: rule) { worker in
            worker.source.add([Self.numbers[0]])
            try await worker.settle(events: 1)
            #expect(worker.sink.answers == [rule == .stop ? "failed opted_out" : "sent"])
        }
        #expect(first.messages.count == 1)
        #expect(next.messages.count == (rule == .stop ? 0 : 1))
    }

    @Test(arguments: [ProviderAnswer(.misconfigured, errorCode: "401"), ProviderAnswer(.notSent, errorCode: "refused")])
    func `a retry goes to the provider that asked for it, and not to one that takes nobody's`(
        answer: ProviderAnswer
    ) async throws {
        let journal = Journal()
        let first = MemoryProvider("first", journal: journal) { _ in answer }
        let busy = ProviderAnswer(.notSent, errorCode: "503", retryAfter: .seconds(1))
        let second = MemoryProvider.taking(after: 1, of: busy, "second", journal: journal)
        try await MemoryWorker.with([first, second], journal: journal) { worker in
            worker.source.add([Self.numbers[0]])
            try await worker.settle(events: 1)
            #expect(worker.sink.answers == ["sent"])
            #expect(worker.sink.pending == 0, "a short wait needs no word")
        }
        let calls = journal.work.compactMap { if case .called(let provider) = $0 { provider } else { nil } }
        #expect(calls == ["first", "second", "second"])
    }

    @Test func `what has no turn of its provider goes to the next one that takes it`() async throws {
        let journal = Journal()
        let first = MemoryProvider("first", journal: journal)
        let paused = MemoryProvider("paused", journal: journal) { _ in
            ProviderAnswer(.throttled, errorCode: "429", retryAfter: .seconds(60))
        }
        let last = MemoryProvider("last", journal: journal)
        let rate = RateLimit(count: 5, per: .seconds(1))
        try await MemoryWorker.with([first, paused, last], journal: journal, limits: ["first": rate]) { worker in
            worker.rates.close()
            worker.source.add([Self.numbers[0]])
            try await worker.settle(events: 1)
            worker.source.add(Array(Self.numbers[1..<20]))
            try await worker.settle(events: 20)
            #expect(worker.sink.answers == [String](repeating: "sent", count: 20))
            #expect(!journal.work.contains(.ledger(.release)) && worker.ledger.delays.isEmpty)
        }
        #expect(first.messages.isEmpty)
        #expect(paused.messages.count == 1)
        #expect(last.messages.count == 20)
    }

    @Test func `who had no turn for a message is asked behind those that refuse it, who are not asked again`()
        async throws
    {
        let journal = Journal()
        let first = MemoryProvider("first", journal: journal)
        let second = MemoryProvider("second", journal: journal) { _ in ProviderAnswer(.refused, errorCode: "21211") }
        let rate = RateLimit(count: 5, per: .seconds(1))
        try await MemoryWorker.with([first, second], journal: journal, limits: ["first": rate]) { worker in
            worker.rates.close()
            worker.source.add([Self.numbers[0]])
            try await eventually("it comes back again and again") {
                worker.ledger.delays.count >= Self.moreThanAttempts
            }
            worker.rates.open()
            try await worker.settle(events: 1)
            #expect(worker.sink.answers == ["sent"])
        }
        #expect(first.messages.count == 1)
        #expect(second.messages.count == 1, "who has refused it is not asked again meanwhile")
    }

    @Test func `who refused a message is not asked again when another one is, later`() async throws {
        let journal = Journal()
        let first = MemoryProvider("first", journal: journal) { _ in ProviderAnswer(.refused, errorCode: "21211") }
        let second = MemoryProvider.taking(
            after: 1,
            of: ProviderAnswer(.throttled, errorCode: "20429"),
            "second",
            journal: journal
        )
        try await MemoryWorker.with([first, second], journal: journal) { worker in
            worker.source.add([Self.numbers[0]])
            try await worker.settle(events: 1)
            #expect(worker.sink.answers == ["sent"])
        }
        #expect(first.messages.count == 1)
        #expect(second.messages.count == 2)
    }

    @Test func `of several answers the one nearest to an acceptance is told`() async throws {
        let journal = Journal()
        let first = MemoryProvider("first", journal: journal) { _ in
            ProviderAnswer(.throttled, errorCode: "20429", retryAfter: .seconds(3600))
        }
        let second = MemoryProvider("second", journal: journal) { _ in ProviderAnswer(.refused, errorCode: "21211") }
        try await MemoryWorker.with([first, second], journal: journal) { worker in
            worker.source.add([Self.numbers[0]])
            try await worker.settle(events: 1)
            #expect(worker.sink.answers == ["failed provider_unavailable"])
            #expect(worker.sink.errorCodes == ["20429"])
        }
    }

    @Test func `a provider that wants to be asked after the message's time fails it at once`() async throws {
        let journal = Journal()
        let provider = MemoryProvider(journal: journal) { _ in
            ProviderAnswer(.throttled, errorCode: "20429", retryAfter: .seconds(3600))
        }
        try await MemoryWorker.with([provider], journal: journal) { worker in
            worker.source.add([Self.numbers[0]])
            try await worker.settle(events: 1)
            #expect(worker.sink.answers == ["failed provider_unavailable"])
            #expect(worker.ledger.delays.isEmpty)
        }
        #expect(provider.messages.count == 1)
    }

    @Test func `what finds its provider's line full stays away, and no longer than it may be sent`() async throws {
        let rate = RateLimit(count: 1, per: .seconds(3600))
        for longest in [Duration.seconds(10), Duration.seconds(8)] {
            let hasDeadline = longest < .seconds(10)
            let more = hasDeadline ? #","deadline":"\#((Timestamp.now + longest).rfc3339)""# : ""
            try await MemoryWorker.with(limits: ["main": rate]) { worker in
                worker.rates.close()
                let records = (0..<5).map { place in
                    InboundRecord.request(
                        id: "r\(place)",
                        phoneNumber: Self.numbers[place],
                        offset: Int64(place),
                        at: .now,
                        more: more
                    )
                }
                worker.source.add(records: records)
                // On a busy machine their deadline may pass first.
                try await eventually("they are handed back") {
                    worker.ledger.delays.count >= 20 || worker.sink.answers.count == records.count
                }
                #expect(!worker.ledger.delays.isEmpty)
                #expect(worker.ledger.delays.allSatisfy { $0 <= longest })
                #expect(hasDeadline || worker.ledger.delays.allSatisfy { $0 >= .seconds(5) })
            }
        }
    }

    @Test func `what is too late when a provider has refused it is offered to no other`() async throws {
        let journal = Journal()
        let time = Duration.seconds(2)
        let first = MemoryProvider("first", journal: journal) { _ in
            // The late answer is the subject of the test, so it needs a real delay.
            try? await Task.sleep(for: time)
            return ProviderAnswer(.notSent, errorCode: "timeout")
        }
        let second = MemoryProvider("second", journal: journal)
        try await MemoryWorker.with([first, second], journal: journal) { worker in
            // On a busy machine a request's deadline may pass before its mark. Then the test sends another request.
            for offset: Int64 in 1... {
                let deadline = (Timestamp.now + time).rfc3339
                let more = #","deadline":"\#(deadline)""#
                // Each request is for a different person, so it does not wait for the previous one.
                let number = "+4915\(100_000_000 + offset)"
                let request = InboundRecord.request(
                    id: "r\(offset)",
                    phoneNumber: number,
                    offset: offset,
                    at: .now,
                    more: more
                )
                worker.source.add(records: [request])
                try await eventually("it is answered or handed back") {
                    let isRequested = !first.messages.isEmpty && journal.work.contains(.ledger(.record))
                    let handedBack = journal.work.count { $0 == .ledger(.release) }
                    return isRequested || worker.sink.answers.count + handedBack >= offset
                }
                if !first.messages.isEmpty { break }
            }
            #expect(journal.work.contains(.ledger(.record)))
            #expect(second.messages.isEmpty)
        }
    }

    @Test func `a message that was too late to leave asks nobody else, and costs no attempt`() async throws {
        let journal = Journal()
        let first = MemoryProvider.taking(after: Self.moreThanAttempts, of: .tooLate, "first", journal: journal)
        let second = MemoryProvider("second", journal: journal)
        let log = LogRecord()
        try await MemoryWorker.with([first, second], journal: journal, log: log) { worker in
            worker.source.add([Self.numbers[0]])
            try await worker.settle(events: 1)
            #expect(worker.sink.answers == ["sent"])
        }
        #expect(second.messages.isEmpty)
        #expect(log.lines(.providerRefused).isEmpty, "the provider refused nothing")
    }

    @Test func `a message that finds no connection free costs no attempt, and goes where one is`() async throws {
        for others in [[], ["second"]] {
            let journal = Journal()
            let first = MemoryProvider.taking(after: Self.moreThanAttempts, of: .busy, "first", journal: journal)
            let second = others.map { MemoryProvider($0, journal: journal) }
            let log = LogRecord()
            try await MemoryWorker.with([first] + second, journal: journal, log: log) { worker in
                worker.source.add([Self.numbers[0]])
                try await worker.settle(events: 1)
                #expect(worker.sink.answers == ["sent"])
            }
            #expect(second.allSatisfy { $0.messages.count == 1 })
            #expect(log.lines(.providerRefused).allSatisfy { $0.fields["error_code"] == "busy" })
            #expect(!log.lines(.providerRefused).isEmpty, "an operator has to know of it")
        }
    }

    @Test func `a provider that takes nothing is passed over, and its messages go when it does again`() async throws {
        let journal = Journal()
        let isDown = Mutex(true)
        let provider = MemoryProvider(journal: journal) { _ in
            isDown.withLock(\.self)
                ? ProviderAnswer(.notSent, errorCode: "connection_refused")
                : ProviderAnswer(.accepted, messageID: "1")
        }
        try await MemoryWorker.with([provider], journal: journal) { worker in
            worker.source.add(Self.numbers)
            try await eventually("five calls have failed") { provider.messages.count >= 5 }
            let calls = provider.messages.count
            // Sweeps claim the sends repeatedly, and nearly all claims end without a call.
            let sweeps = worker.journal.entries.count { $0 == .ledger(.sweepSends) }
            try await eventually("sweeps go on") {
                worker.journal.entries.count { $0 == .ledger(.sweepSends) } > sweeps + 10
            }
            #expect(provider.messages.count <= max(calls, 20) + 2)
            isDown.withLock { $0 = false }
            try await worker.settle(events: 20)
            #expect(worker.sink.answers.count { $0 == "sent" } >= 15)
        }
    }

    @Test(arguments: [[:], ["main": RateLimit(count: 1, per: .seconds(3600))]] as [[String: RateLimit]])
    func `what a provider does not take now is not claimed at once, again and again`(
        limits: [String: RateLimit]
    ) async throws {
        var settings = WorkerSettings.test
        settings.batchSize = 2
        settings.sweepInterval = .milliseconds(500)
        let journal = Journal()
        let provider = MemoryProvider(journal: journal) { _ in
            ProviderAnswer(.throttled, errorCode: "429", retryAfter: .seconds(60))
        }
        try await MemoryWorker.with([provider], journal: journal, settings: settings, limits: limits) { worker in
            worker.rates.close()
            worker.source.add(Self.numbers)
            try await eventually("all are decided") { journal.work.count { $0 == .ledger(.intake) } >= 10 }
            func sweeps() -> Int { journal.entries.count { $0 == .ledger(.sweepSends) } }
            let (start, before) = (ContinuousClock.now, sweeps())
            try await eventually("sweeps go on") { sweeps() >= before + 4 }
            let count = sweeps() - before
            // One sweep per interval, and those that had already started.
            #expect(count <= 2 + Int((ContinuousClock.now - start) / settings.sweepInterval))
        }
    }
}
