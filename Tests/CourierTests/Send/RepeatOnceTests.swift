// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TestSupport
import Testing
import Verification

@testable import Courier

/// Tests the choice of the provider for a repeat under `worker.unknownOutcome: resend_once`.
@Suite(.timeLimit(.minutes(5))) struct RepeatOnceTests {
    private static let timeout = ProviderAnswer(.unknown, errorCode: "timeout")
    private static let refusal = ProviderAnswer(.refused, errorCode: "21211")
    private static let throttling = ProviderAnswer(.throttled, errorCode: "429")
    private static let taken = ProviderAnswer(.accepted, messageID: "1")

    private static let repeating = WorkerSettings.test { $0.unknownOutcome = .resendOnce }

    /// The events and provider calls of one request.
    private struct Course {
        var answers: [String] = []
        var work: [Journal.Entry] = []

        /// The called providers, in order.
        var calls: [String] {
            work.compactMap { if case .called(let provider) = $0 { provider } else { nil } }
        }

        var marks: Int { work.count { $0 == .ledger(.markDispatching) } }
    }

    /// Sends one request on a route of these providers, each with its list of answers.
    private func course(
        of answers: [(name: String, answers: [ProviderAnswer])],
        isIdempotent: Bool = false,
        settings: WorkerSettings = repeating
    ) async throws -> Course {
        let journal = Journal()
        let providers = answers.map { name, answers in
            let left = Mutex(answers)
            return MemoryProvider(name, isIdempotent: isIdempotent, journal: journal) { _ in
                left.withLock { $0.isEmpty ? Self.taken : $0.removeFirst() }
            }
        }
        var course = Course()
        try await MemoryWorker.with(providers, journal: journal, settings: settings) { worker in
            worker.source.add(["+4915123457000"])
            try await worker.settle(events: 1)
            course.answers = worker.sink.answers
        }
        course.work = journal.work
        return course
    }

    @Test func `a repeat goes to another provider than the one that may have the message`() async throws {
        let course = try await course(of: [("first", [Self.timeout]), ("second", [])])
        #expect(course.calls == ["first", "second"])
        #expect(course.answers == ["sent"])
    }

    @Test func `where there is no other provider the send stays unknown at once`() async throws {
        let course = try await course(of: [("only", [Self.timeout])])
        #expect(course.calls == ["only"])
        #expect(course.answers == ["unknown timeout"])
    }

    @Test func `a provider that takes the send's id as a key is called again, where there is no other`() async throws {
        let route = [("only", [Self.timeout, Self.throttling])]
        #expect(try await course(of: route, isIdempotent: true).calls == ["only", "only", "only"])
        let two = try await course(of: route + [("other", [])], isIdempotent: true)
        #expect(two.calls == ["only", "only", "other"])
        #expect(two.answers == ["sent"])
    }

    @Test func `who refused the message before is not called again either`() async throws {
        let refused = ("first", [Self.refusal])
        let doubtful = ("second", [Self.timeout])
        let three = try await course(of: [refused, doubtful, ("third", [])])
        #expect(three.calls == ["first", "second", "third"])
        #expect(three.answers == ["sent"])
        let two = try await course(of: [refused, doubtful])
        #expect(two.calls == ["first", "second"])
        #expect(two.answers == ["unknown timeout"])
    }

    @Test func `a repeat that is refused leaves the send unknown, by the first answer`() async throws {
        let course = try await course(of: [("first", [Self.timeout]), ("second", [Self.refusal])])
        #expect(course.calls == ["first", "second"])
        #expect(course.answers == ["unknown timeout"])
    }

    @Test func `a claim is marked anew before its message goes to the next provider, and only with resend_once`()
        async throws
    {
        let route = [("first", [Self.refusal]), ("second", [])]
        let repeating = try await course(of: route)
        #expect(repeating.answers == ["sent"])
        #expect(repeating.marks == 2)
        let marksAndCalls = repeating.work.filter { entry in
            if case .called = entry { true } else { entry == .ledger(.markDispatching) }
        }
        #expect(marksAndCalls.last == .called(provider: "second"))
        #expect(marksAndCalls.dropLast().last == .ledger(.markDispatching))
        #expect(try await course(of: route, settings: .test).marks == 1)
    }
}
